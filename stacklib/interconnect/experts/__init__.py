"""Tokens to experts over ranks: who is chosen, what moves, how long it takes."""
