"""The rooms."""
