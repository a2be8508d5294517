"""Products cut into tiles: what they read, and what fits."""
