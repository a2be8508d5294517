"""Chapter 1: what only its pages need."""
