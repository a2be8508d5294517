"""What a token is worth: bills of machines, contexts, silicon, and a price explained."""
