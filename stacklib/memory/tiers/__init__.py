"""Memory beyond the chip: what a tier costs, and what it is for."""
