"""The pages on models: what only they need."""
