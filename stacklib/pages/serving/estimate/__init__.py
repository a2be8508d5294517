"""Section 8.2: What will a token cost, before you pay for the hour?"""
