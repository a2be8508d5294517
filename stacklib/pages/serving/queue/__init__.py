"""Section 8.8: How long is the line at ten requests a second?"""
