"""Policy: rules for calls, destinations, and the sources of a branch's words; knows no run."""
