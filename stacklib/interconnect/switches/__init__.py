"""Switches: frames, queues, pause and credits, loss, marks, hashing and spraying."""
