"""Caches on traces of addresses, and how their sizes are found."""
