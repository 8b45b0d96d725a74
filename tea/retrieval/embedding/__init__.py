"""Embedders: the ways of turning texts into vectors, one file for each."""
