"""Section 8.5: Who is in the next step?"""
