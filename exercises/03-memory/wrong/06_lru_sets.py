# ---- bytes_as_lines: Every byte is a line of its own
def misses(addresses, size, ways, line):
    sets = [[] for _ in range(size // (ways * line))]
    missed = 0
    for address in addresses:
        number = address
        held = sets[number % len(sets)]
        if number in held:
            held.remove(number)
        else:
            missed += 1
            if len(held) == ways:
                held.pop(0)
        held.append(number)
    return missed


# ---- fifo: A hit has to make its line the last one used
def misses(addresses, size, ways, line):
    sets = [[] for _ in range(size // (ways * line))]
    missed = 0
    for address in addresses:
        number = address // line
        held = sets[number % len(sets)]
        if number in held:
            pass
        else:
            missed += 1
            if len(held) == ways:
                held.pop(0)
            held.append(number)
    return missed


# ---- fully_associative: Any line lies anywhere in your cache
def misses(addresses, size, ways, line):
    sets = [[] for _ in range(1)]
    missed = 0
    for address in addresses:
        number = address // line
        held = sets[number % len(sets)]
        if number in held:
            held.remove(number)
        else:
            missed += 1
            if len(held) == size // line:
                held.pop(0)
        held.append(number)
    return missed


# ---- mru: The line used last leaves
def misses(addresses, size, ways, line):
    sets = [[] for _ in range(size // (ways * line))]
    missed = 0
    for address in addresses:
        number = address // line
        held = sets[number % len(sets)]
        if number in held:
            held.remove(number)
        else:
            missed += 1
            if len(held) == ways:
                held.pop()
        held.append(number)
    return missed


# ---- set_by_address: The set is taken from the address
def misses(addresses, size, ways, line):
    sets = [[] for _ in range(size // (ways * line))]
    missed = 0
    for address in addresses:
        number = address // line
        held = sets[address % len(sets)]
        if number in held:
            held.remove(number)
        else:
            missed += 1
            if len(held) == ways:
                held.pop(0)
        held.append(number)
    return missed


# ---- too_large: as many sets as lines
def misses(addresses, size, ways, line):
    sets = [[] for _ in range(size // line)]
    missed = 0
    for address in addresses:
        number = address // line
        held = sets[number % len(sets)]
        if number in held:
            held.remove(number)
        else:
            missed += 1
            if len(held) == ways:
                held.pop(0)
        held.append(number)
    return missed
