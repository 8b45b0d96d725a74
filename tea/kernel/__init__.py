"""The deterministic core: a program of branches, stepped by a scheduler, whose events from outside a gate records."""
