"""Work counted: every operation of a block, and code that counts."""
