"""Chapter 6: what only its pages need."""
