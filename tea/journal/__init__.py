"""What a run left: its records, and what is read from them."""
