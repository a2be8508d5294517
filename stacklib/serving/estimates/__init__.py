"""What a token will take: its account, with the losses of an engine on top."""
