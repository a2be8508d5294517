"""Section 7.3: How many numbers share a scale?"""
