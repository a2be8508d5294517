"""Training in few bits: a classifier, FP8, rounding seen in training, stored runs."""
