"""Which kernel to write, and how to search for its parameters."""
