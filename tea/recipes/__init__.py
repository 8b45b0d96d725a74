"""The six transformations: components made of other components."""
