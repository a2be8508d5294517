"""Section 8.13: What did the wait and the price do to the token?"""
