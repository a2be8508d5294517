# diagnosis: A byte is eight bits, and the data sheet prints bytes.
def stack_bandwidth():
    return 1024 * 5.2


def stacks():
    return 8


def stack_capacity():
    return 192 / 8


def dies_a_stack():
    return 12
