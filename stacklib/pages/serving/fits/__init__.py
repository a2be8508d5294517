"""Section 8.1: Will it fit, and for how many?"""
