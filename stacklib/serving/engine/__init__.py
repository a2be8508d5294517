"""An engine that serves many sequences of the tiny model at once."""
