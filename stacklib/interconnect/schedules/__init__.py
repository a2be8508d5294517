"""Schedules of collectives: built, proved, run on arrays and processes, and timed."""
