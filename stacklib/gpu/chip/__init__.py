"""The chip around the units: its parts, its places, its spec sheet."""
