"""Section 3.4: What stays near?"""
