"""Products made of something else: of two bytes, of a choice among sixteen."""
