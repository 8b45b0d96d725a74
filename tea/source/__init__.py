"""Text to components: read, checked, completed, captured, loaded and trusted."""
