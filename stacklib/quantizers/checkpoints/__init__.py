"""Folders of Hugging Face: read, and written in few bits."""
