"""Source: turning text into components, by reading, checking, completing, capturing, loading and trusting it."""
