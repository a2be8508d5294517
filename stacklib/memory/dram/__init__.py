"""A DRAM channel: cells, banks, timing rules, bursts, requests."""
