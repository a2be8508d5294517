"""Section 7.9: Does perplexity see what a task sees?"""
