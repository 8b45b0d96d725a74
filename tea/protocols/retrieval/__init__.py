"""Retrieval: the components that fit a wish in words."""
