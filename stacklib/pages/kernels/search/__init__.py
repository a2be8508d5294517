"""Chapter 4: searching for kernels."""
