"""What programs call beside Triton's own names: libdevice, and random numbers."""
