"""Section 3.7: What is a stack made of?"""
