"""Section 7.7: What does a KV cache in few bits cost?"""
