"""What agents remember of a session."""
