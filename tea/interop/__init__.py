"""Interop: other formats for what tea holds, one file each."""
