"""From Python to the chip: launches, graphs, fusion, recomputation."""
