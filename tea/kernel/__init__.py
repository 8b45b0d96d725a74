"""The deterministic core: a program of branches, stepped by a scheduler, with a gate to record external events."""
