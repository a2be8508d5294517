"""Section 8.4: Has somebody asked this before?"""
