"""Commands about what a chip is made of."""
