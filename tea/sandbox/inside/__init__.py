"""The programs run inside of a sandbox: the standard library only, as nothing else may be there.

Every start waits for what they import, so `typing` is there for type checkers alone.
"""
