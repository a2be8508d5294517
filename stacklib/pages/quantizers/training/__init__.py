"""Section 7.8: What does training in eight bits ask for?"""
