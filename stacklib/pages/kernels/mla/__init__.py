"""Chapter 4: attention with a latent."""
