"""The sandbox: a process with little reach and few resources, for untrusted code."""
