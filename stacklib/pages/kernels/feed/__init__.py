"""Chapter 4: feeding the tensor cores."""
