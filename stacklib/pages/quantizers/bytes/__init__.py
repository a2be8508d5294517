"""Annex: log grids, and sixteen bits through bytes."""
