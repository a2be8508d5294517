# diagnosis: The first of each phase is no conflict.
def passes(addresses, width):
    together = 32 if width <= 4 else 128 // width
    found = []
    for start in range(0, 32, together):
        words = set()
        for address in addresses[start : start + together]:
            if address is not None:
                first = address // 4
                words |= set(range(first, first + max(1, width // 4)))
        banks = [word % 32 for word in words]
        found.append(max((banks.count(bank) for bank in set(banks)), default=0))
    return found


def conflicts(addresses, width):
    return sum(passes(addresses, width))
