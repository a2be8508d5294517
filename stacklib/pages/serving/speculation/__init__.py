"""Section 8.7: Can a small model write what a large one checks?"""
