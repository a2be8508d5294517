"""Section 3.6: What happens when it no longer fits?"""
