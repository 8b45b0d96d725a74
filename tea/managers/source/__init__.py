"""Source text of components: read, checked, completed, captured and loaded."""
