"""Section 3.2: Which bytes does a warp fetch?"""
