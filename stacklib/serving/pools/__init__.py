"""Two pools that share a request's work: balance, pace, goodput, and two processes."""
