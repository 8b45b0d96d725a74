"""The memory of agents in a session."""
