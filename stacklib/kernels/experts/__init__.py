"""Tiles of experts: padding, and tokens rounded to tiles."""
