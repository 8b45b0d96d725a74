"""Names and versions: how versions come to be, how pointers move, how they differ."""
