"""Section 8.12: What does a million tokens cost?"""
