"""Section 1.6: What does a faster part buy?"""
