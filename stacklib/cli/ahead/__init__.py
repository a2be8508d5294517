"""Commands of what is coming, and of one token through all layers."""
