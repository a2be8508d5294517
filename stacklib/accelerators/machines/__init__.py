"""Machines side by side, and what it takes to move to another."""
