"""The pages on evidence: what only they need."""
