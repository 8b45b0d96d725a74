"""Untrusted components at work: generated, loaded and imported source runs in sandbox workers, reached over JSON."""

PROGRAM = "program"
"""The effect in a journal of each step of a program in a worker."""
SANDBOXED = ("tool", "environment", "agent")
"""The kinds of component that work in a sandbox as long as nobody trusts them."""
