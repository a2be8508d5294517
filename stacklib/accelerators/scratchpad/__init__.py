"""Engines that run side by side out of a memory that the program fills itself."""
