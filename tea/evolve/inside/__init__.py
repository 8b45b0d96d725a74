"""Inside: what runs in the worker process of an optimiser library; it needs the standard library and that library."""
