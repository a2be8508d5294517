"""Section 8.6: Where does a cache go that does not fit?"""
