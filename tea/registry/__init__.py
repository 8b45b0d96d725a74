"""Registry: names and versions, their pointers, and the differences between versions."""
