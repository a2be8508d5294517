"""Which algorithm a library takes for a size, and what a line through times says."""
