"""Batches as slots over steps: what continuous batching gains, without a model."""
