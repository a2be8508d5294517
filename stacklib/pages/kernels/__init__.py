"""Chapter 4: what only its pages need."""
