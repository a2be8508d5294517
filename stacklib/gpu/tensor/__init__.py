"""Tensor cores: their arithmetic, their peaks, and feeding them."""
