"""Chapter 3: what only its pages need."""
