"""Timers, and what each of them reads."""
