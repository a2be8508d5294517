"""Section 3.10: What does memory cost to make?"""
