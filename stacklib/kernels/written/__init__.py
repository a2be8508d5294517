"""Kernels as they are written for a device: Triton and CUDA, each with its twin."""
