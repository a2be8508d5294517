"""Failures of a cluster, and what is lost between checkpoints."""
