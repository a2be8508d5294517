"""Chapter 2: what only its pages need."""
