"""One token's way down the stack and back."""
