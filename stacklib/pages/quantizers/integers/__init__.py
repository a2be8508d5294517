"""Section 7.2: What does one scale for many integers cost?"""
