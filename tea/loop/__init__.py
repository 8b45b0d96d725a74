"""The loop of tool-calling agents: it sees only the context that a component is given."""
