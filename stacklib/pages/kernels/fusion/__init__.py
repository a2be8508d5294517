"""Chapter 4: fusion."""
