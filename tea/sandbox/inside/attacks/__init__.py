"""Attempts to leave a sandbox, run inside of one by its self-check."""
