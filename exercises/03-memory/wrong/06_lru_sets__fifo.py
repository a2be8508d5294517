# diagnosis: A hit has to make its line the last one used
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
