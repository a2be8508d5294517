"""Section 8.3: Where does the next token go?"""
