"""Chapter 4: the generations of FlashAttention."""
