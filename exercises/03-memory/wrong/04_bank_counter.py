# ---- all_passes: The first of each phase is no conflict.
def conflicts(addresses, width):
    return sum(passes(addresses, width))


# ---- bytes: Those are addresses. A word has 4 bytes
def passes(addresses, width):
    together = 32 if width <= 4 else 128 // width
    found = []
    for start in range(0, 32, together):
        words = set()
        for address in addresses[start : start + together]:
            if address is not None:
                first = address
                words |= set(range(first, first + max(1, width // 4)))
        banks = [word % 32 for word in words]
        found.append(max((banks.count(bank) for bank in set(banks)), default=0))
    return found


# ---- no_broadcast: Lanes that want the same word share it
def passes(addresses, width):
    together = 32 if width <= 4 else 128 // width
    found = []
    for start in range(0, 32, together):
        words = []
        for address in addresses[start : start + together]:
            if address is not None:
                first = address // 4
                words += range(first, first + max(1, width // 4))
        banks = [word % 32 for word in words]
        found.append(max((banks.count(bank) for bank in set(banks)), default=0))
    return found


# ---- one_phase: A wide request comes in phases
def passes(addresses, width):
    together = 32
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
