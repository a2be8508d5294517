# diagnosis: you let a pin run at any rate
def find_builds(capacity_gb, bandwidth_tb, pins, die_gbit, top_rate):
    return [
        (stacks, height)
        for stacks in range(1, 17)
        for height in (4, 8, 12, 16)
        if stacks * height * die_gbit / 8 == capacity_gb
    ]
