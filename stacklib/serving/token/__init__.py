"""What one token, or one prompt, costs: lines, and what each of them covers."""
