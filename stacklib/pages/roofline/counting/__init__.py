"""Section 1.2: How much work is one layer?"""
