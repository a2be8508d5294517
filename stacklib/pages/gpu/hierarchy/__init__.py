"""Section 2.1: Where does a thread live?"""
