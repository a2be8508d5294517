"""Section 3.8: Why does memory not run at its own speed?"""
