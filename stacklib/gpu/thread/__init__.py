"""What a kernel says to its thread, and the way from a kernel to a program."""
