"""What an array of multipliers takes, and what happens in each of its cycles."""
