"""Section 3.1: How far away is a byte?"""
