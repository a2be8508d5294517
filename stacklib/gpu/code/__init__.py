"""What a compiler makes of a kernel: PTX run, SASS read."""
