"""Journal: a run's records, and the information read from them."""
