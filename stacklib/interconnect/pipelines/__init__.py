"""Layers over stages: orders of work, run event by event, and where stages wait."""
