"""The language of kernels: Python, compiled to instructions of a warp."""
