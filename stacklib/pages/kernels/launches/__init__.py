"""Chapter 4: launches and graphs."""
