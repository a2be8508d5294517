# ---- any_rate: you let a pin run at any rate
def find_builds(capacity_gb, bandwidth_tb, pins, die_gbit, top_rate):
    return [
        (stacks, height)
        for stacks in range(1, 17)
        for height in (4, 8, 12, 16)
        if stacks * height * die_gbit / 8 == capacity_gb
    ]


# ---- bytes_on_pins: your pins carry bytes
def find_builds(capacity_gb, bandwidth_tb, pins, die_gbit, top_rate):
    return [
        (stacks, height)
        for stacks in range(1, 17)
        for height in (4, 8, 12, 16)
        if stacks * height * die_gbit / 8 == capacity_gb
        and 1000 * bandwidth_tb / (stacks * pins) <= top_rate
    ]


# ---- nearest: nothing can be built
def find_builds(capacity_gb, bandwidth_tb, pins, die_gbit, top_rate):
    found = [
        (stacks, height)
        for stacks in range(1, 17)
        for height in (4, 8, 12, 16)
        if stacks * height * die_gbit / 8 == capacity_gb
        and 8000 * bandwidth_tb / (stacks * pins) <= top_rate
    ]
    return found or [(8, 8)]
