"""Section 3.11: Where is the token now?"""
