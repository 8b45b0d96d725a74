"""Retrieval of components by a query text."""
