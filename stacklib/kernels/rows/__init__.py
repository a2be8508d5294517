"""Kernels over rows: softmax, norms, sampling, scans and sorts."""
