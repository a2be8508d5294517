"""Work queues of a network port: the entry, the ring, the doorbell, and their races."""
