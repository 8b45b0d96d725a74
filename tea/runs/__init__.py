"""One task executed once."""
