"""Pages of chapter 5."""
