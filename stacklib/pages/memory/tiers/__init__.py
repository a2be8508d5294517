"""Section 3.9: Where should a byte live?"""
