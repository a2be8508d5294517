"""Chapter 4: drawing a token."""
