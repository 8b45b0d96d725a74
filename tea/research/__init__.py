"""Deep Research: conversations with a scientist at work on a question over iterations, hours and interruptions."""
