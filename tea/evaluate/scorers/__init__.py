"""Scorers: one file for each family of rules."""
