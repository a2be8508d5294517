"""Attention in tiles: NumPy, torch, counted and held to a float64 reference."""
