"""The basic managers: model, prompt, memory, dynamic, version, tracer."""
