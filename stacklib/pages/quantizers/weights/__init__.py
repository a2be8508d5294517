"""Section 7.4: Where does the rounding error of a weight go?"""
