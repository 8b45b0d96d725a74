"""One file for each way of reaching a model."""
