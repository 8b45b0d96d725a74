"""The loop of tool-calling agents: it accesses only the context given to a component."""
