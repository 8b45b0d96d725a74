"""Finding the components that fit a wish in words."""
