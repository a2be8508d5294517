"""Where blocks of keys and values go that the pool has no room for; bytes move."""
