"""What each chip holds and sends in sharded training: counted, run, and timed."""
