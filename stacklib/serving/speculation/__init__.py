"""Speculation: what a draft proposes, a large model checks many tokens at once."""
