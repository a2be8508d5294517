"""From tokens to text as it streams: whole characters, cut before a stop string."""
