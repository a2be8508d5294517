"""Section 1.1: Why does one token take so long?"""
