# diagnosis: You took the 16 of a die for gigabytes
def stack_bandwidth():
    return 1024 * 5.2 / 8


def stacks():
    return 8


def stack_capacity():
    return 192 / 8


def dies_a_stack():
    return stack_capacity() / 16
