"""Section 2.7: How do you put two dies together?"""
