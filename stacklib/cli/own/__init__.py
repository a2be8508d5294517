"""Commands of the book's own model."""
