"""Who works when: pipelines of tiles, warp groups in turns, generations."""
