"""What a token is worth: machines' bills, contexts, silicon, a price explained."""
