"""From register to drive: time and energy of every level."""
