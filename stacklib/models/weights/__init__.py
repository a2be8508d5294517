"""Tensors of a model, and the formats in which weights are kept."""
