"""Evolve: components improved from their own traces, accepted on held-out evidence alone."""
