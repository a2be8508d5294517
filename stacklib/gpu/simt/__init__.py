"""The SIMT machine: kernels in Python, run and counted warp by warp."""
