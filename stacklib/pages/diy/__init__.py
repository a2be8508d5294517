"""What the pages of chapter 9 choose and draw."""
