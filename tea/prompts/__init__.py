"""Prompts: Markdown with front matter, read, inherited, rendered and checked."""
