"""Section 1.8: Where is the token now?"""
