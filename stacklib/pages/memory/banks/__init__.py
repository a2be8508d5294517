"""Section 3.3: Why do all lanes wait for one bank?"""
