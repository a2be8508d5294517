"""What the pages of chapter 10 choose and draw."""
