"""Requests that come when they like: the queue before a machine, event by event."""
