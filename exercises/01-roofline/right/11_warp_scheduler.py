# ---- runs: whole runs of instructions, from a heap
from heapq import heappop, heappush
from fractions import Fraction


def warps_needed(work, latency):
    return Fraction(latency + work, 1 + work)


def cycles(warps, work, latency, rounds):
    # Up to a load a warp is never left: the load itself ends a run.
    runs = [1] + [work + 1] * (rounds - 1) + [work]
    waiting = [(0, warp, 0) for warp in range(warps)]
    now = 0
    while waiting:
        ready, warp, at = heappop(waiting)
        now = max(now, ready) + runs[at]
        if at + 1 < len(runs):
            heappush(waiting, (now - 1 + latency, warp, at + 1))
    return now


# ---- clock: cycle by cycle, each warp a generator of when it may go on
def warps_needed(work, latency):
    slots = 1 + work
    return 1 + (latency - 1) / slots


def program(work, latency, rounds):
    for _ in range(rounds):
        yield latency
        for _ in range(work):
            yield 1


def cycles(warps, work, latency, rounds):
    programs = {w: program(work, latency, rounds) for w in range(warps)}
    left = dict.fromkeys(programs, rounds * (1 + work))
    ready = dict.fromkeys(programs, 0)
    cycle, current = 0, 0
    while left:
        able = [w for w in left if ready[w] <= cycle]
        if able:
            if current not in able:
                current = min(able, key=lambda w: (ready[w], w))
            ready[current] = cycle + next(programs[current])
            left[current] -= 1
            if not left[current]:
                del left[current]
        cycle += 1
    return cycle
