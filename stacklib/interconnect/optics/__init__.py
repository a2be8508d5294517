"""Light in a network: what a link may lose, its errors, its watts, and its failures."""
