# ---- assigned: every instruction gets a packet and a slot, packets tried upward
def chain(program):
    def long(at):
        return 1 + max(map(long, program[at][1]), default=0)

    return max(long(at) for at in range(len(program)))


def crowd(program, slots, unit):
    packets, left = 0, [u for u, _ in program].count(unit)
    while left > 0:
        left -= sum(unit in slot.split() for slot in slots)
        packets += 1
    return packets


def fewest(program, slots):
    def place(at, taken, when, packets):
        if at == len(program):
            return True
        unit, needs = program[at]
        first = 1 + max((when[n] for n in needs), default=-1)
        for packet in range(first, packets):
            for slot, feeds in enumerate(slots):
                if unit in feeds.split() and (packet, slot) not in taken:
                    more = taken | {(packet, slot)}
                    if place(at + 1, more, [*when, packet], packets):
                        return True
        return False

    packets = 1
    while not place(0, frozenset(), [], packets):
        packets += 1
    return packets


# ---- levels: needs relaxed until nothing moves, packets filled from the last one
def chain(program):
    when = [1] * len(program)
    for _ in program:
        for at, (_, needs) in enumerate(program):
            when[at] = max([when[at], *(when[n] + 1 for n in needs)])
    return max(when)


def crowd(program, slots, unit):
    room = len([slot for slot in slots if unit in slot.split()])
    count = len([u for u, _ in program if u == unit])
    return (count + room - 1) // room


def fewest(program, slots):
    users = [
        {a for a, (_, n) in enumerate(program) if at in n} for at in range(len(program))
    ]

    def fits(units, free):
        return not units or any(
            units[-1] in free[s].split() and fits(units[:-1], free[:s] + free[s + 1 :])
            for s in range(len(free))
        )

    level, packets = {frozenset()}, 0
    while not any(len(done) == len(program) for done in level):
        packets += 1
        grown = set()
        for done in level:
            ready = [
                a for a in range(len(program)) if a not in done and users[a] <= done
            ]
            for mask in range(1, 1 << len(ready)):
                now = [a for bit, a in enumerate(ready) if mask >> bit & 1]
                if fits([program[a][0] for a in now], list(slots)):
                    grown.add(done | set(now))
        level = grown
    return packets
