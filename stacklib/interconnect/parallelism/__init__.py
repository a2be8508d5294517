"""Parallelism: how a training step is laid out over chips, what it holds and costs."""
