"""Pages of chapter 8."""
