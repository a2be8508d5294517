"""A netlist laid out: placed, routed, timed, checked, and fed with current."""
