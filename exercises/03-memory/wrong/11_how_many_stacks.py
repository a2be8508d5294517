# ---- bits: A byte is eight bits, and the data sheet prints bytes.
def stack_bandwidth():
    return 1024 * 5.2


def stacks():
    return round(5300 / (stack_bandwidth() / 8))


# ---- die_bytes: You took the 16 of a die for gigabytes
def dies_a_stack():
    return stack_capacity() / 16


# ---- too_few: With the bandwidth of a stack in bits you get too few
def stacks():
    return round(5300 / (1024 * 5.2))


def stack_capacity():
    return 192 / round(5300 / (1024 * 5.2 / 8))
