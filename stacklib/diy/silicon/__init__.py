"""Silicon of one's own: networks in whole numbers, FPGAs, a tile of a shared chip."""
