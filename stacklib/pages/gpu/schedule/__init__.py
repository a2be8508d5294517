"""Section 2.3: What does a warp do while it waits?"""
