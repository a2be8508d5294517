"""Chapter 4: what attention in tiles moves."""
