"""Few bits, trained and run: FP8, rounding seen in training, INT8, stored runs."""
