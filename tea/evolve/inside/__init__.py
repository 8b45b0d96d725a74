"""Inside: the worker process of an optimiser library; it needs the standard library and the optimiser alone."""
