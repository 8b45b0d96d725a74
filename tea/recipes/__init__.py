"""The six transformations: components that are made of other components."""
