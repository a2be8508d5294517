"""A memory that software manages: plans, and what is spilled."""
