# diagnosis: With the bandwidth of a stack in bits you get too few
def stack_bandwidth():
    return 1024 * 5.2 / 8


def stacks():
    return round(5300 / (1024 * 5.2))


def stack_capacity():
    return 192 / 8


def dies_a_stack():
    return 12
