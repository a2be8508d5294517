"""Section 2.6: What can be printed at all?"""
