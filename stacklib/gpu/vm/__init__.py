"""The machine under the kernels: its instructions, and the loop that runs warps."""
