"""Section 8.11: What does an agent wait for?"""
