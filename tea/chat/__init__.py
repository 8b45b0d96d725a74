"""Conversations: sessions whose turns are ordinary runs."""
