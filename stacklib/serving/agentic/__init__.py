"""Agents: what a session waits for, call graphs, tails, machines."""
