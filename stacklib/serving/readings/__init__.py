"""Logs and metrics of a running server, and what is wrong with it."""
