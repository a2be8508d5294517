"""Chapter 7: what only its pages need."""
