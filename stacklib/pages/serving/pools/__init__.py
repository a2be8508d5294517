"""Section 8.9: One pool or two?"""
