"""Interop: conversions between tea's components and other formats, one file each."""
