"""Chapter 4: when to write a kernel, and in what."""
