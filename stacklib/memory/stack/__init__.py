"""HBM stacks: generations, builds, bandwidth, height, shoreline."""
