"""The pages on devices: what only they need."""
