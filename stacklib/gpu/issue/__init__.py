"""What a scheduler issues: warps, occupancy, latency that is hidden."""
