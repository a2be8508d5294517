"""Section 7.1: What is a number of a few bits?"""
