"""Conversations: sessions with ordinary runs as their turns."""
