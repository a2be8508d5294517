"""Chips whose only memory is on them: how many, how fast, and what that costs."""
