"""Desk: a world with an obedient model, planted defects and dishonest proposers: a proof of attribution and gate."""
