"""Section 7.6: Which peak, and how many tokens, does a format buy?"""
