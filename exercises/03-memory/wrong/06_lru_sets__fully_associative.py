# diagnosis: Any line lies anywhere in your cache
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
