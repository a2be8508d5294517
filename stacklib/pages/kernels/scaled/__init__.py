"""Chapter 4: products of block-scaled numbers."""
