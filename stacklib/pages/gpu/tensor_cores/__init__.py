"""Section 2.5: Where do the teraflops come from?"""
