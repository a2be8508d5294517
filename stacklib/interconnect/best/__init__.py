"""The fewest steps an all-reduce can take on a board: bounds, searches, proofs."""
