"""Operations and bytes of a piece of work, and what bounds it."""
