"""Chapter 4: tiles of experts."""
