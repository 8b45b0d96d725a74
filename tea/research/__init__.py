"""Deep Research: conversations in which a scientist works on a question over iterations, hours and interruptions."""
