"""Parsers of foreign bytes: they run in a sandbox, and need no other room of tea."""
