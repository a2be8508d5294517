"""The machine you sit at, measured, and models of CPU cores."""
