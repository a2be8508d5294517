"""Kernels as others published them, in our kernel language, for the SIMT machine.

Each keeps its author's grid and block, tiles, widths of loads and unrolled loops.
`evidence.series` says on which shapes each was measured, and holds its rate against the
machine's clock.
"""
