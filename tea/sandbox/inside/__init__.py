"""The programs run inside of a sandbox: the standard library only, as nothing else may be there."""
