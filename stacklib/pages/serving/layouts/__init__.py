"""Section 8.10: Which machine, which layout, which engine?"""
