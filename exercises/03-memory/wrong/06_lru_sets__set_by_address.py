# diagnosis: The set is taken from the address
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
