"""The loop of the replay: compiled by numba where it is installed.

Without numba, and without NumPy, the same function runs over plain lists and gives
the same answer. Time is in cycles; what a server is busy with is in ticks, ``TICK`` of
which make a cycle: a memory can take a sector every three and a third cycles.

A warp is *ready* when the results and events that its next instruction needs are there.
A ready warp is *held* while its port or queue is full. Of those that are ready and not
held, the policy picks. Whenever no sub-core can issue, time jumps to the first cycle in
which one can.
"""

from __future__ import annotations

import heapq
from typing import Any

# Scalars of a machine, by their place in ``size``.
(
    SUB_CORES,
    PIPES,  # of a sub-core
    SLOTS,  # issue slots a cycle and sub-core
    POLICY,
    TICK,  # ticks a cycle
    QUEUE,  # memory instructions that wait in a sub-core
    MISSES,  # sectors on their way to the unit, at most
    RESIDENT,  # blocks at once
    WIDTH,  # warps that a sub-core's row has room for
    L1_SECTOR,  # ticks a sector
    L2_SECTOR,
    MEMORY_SECTOR,
    SHARED_TURN,  # ticks an atomic of one lane holds a word
    GLOBAL_TURN,
    L1_LATENCY,
    L2_LATENCY,
    MEMORY_LATENCY,
    BLOCK_START,  # cycles from the end of a block to the start of the next
    PASS,  # ticks a pass takes the load/store unit
    WRITTEN_WAIT,  # cycles a load waits more where all that memory does is stores
    BURST,  # ticks that memory may be behind a unit's even share and make up for
) = range(21)
# What a kind does, by column of its row in ``table``.
(
    PIPE,  # of its sub-core, -1 for none
    OTHER,  # a second one that does the same, -1
    HOLD,  # ticks that the pipe is taken
    LATENCY,  # cycles until the result is there
    ROUTE,
    WHY,  # reason of those who wait for its result
    FULL,  # reason of those who wait for its port
    QUEUED,  # 1: waits in the sub-core's queue of memory instructions
    COUNTED,  # 1: its sectors are on their way until they land
    AFTER,  # cycles until the warp's next instruction
    DRAINS,  # the block's end waits: BACK, until it is back, SENT, until it has left
) = range(11)
COLUMNS = 11
LINE = 4  # sectors of a line, which the L2 takes one after the other
PLAIN, SHARED, GLOBAL, STORE, MMA, FENCE = range(6)
BACK, SENT = 1, 2
LRR, GTO, GREEDY = range(3)
REASONS = (
    *("selected", "wait", "long_scoreboard", "short_scoreboard", "barrier", "membar"),
    *("branch_resolving", "gmma", "math_pipe_throttle", "mio_throttle", "lg_throttle"),
    *("not_selected", "drain"),
)
REASON = {name: number for number, name in enumerate(REASONS)}
_MEMBAR, _BRANCH, _GMMA = 5, 6, 7
NEVER = 1 << 60
MOST_SECTORS = 1 << 12  # of an instruction; a landing and its sectors are one number


def loop(
    first: Any,  # streams, flat
    block: Any,
    kind: Any,
    needs: Any,
    request: Any,
    arrive: Any,
    wait: Any,
    requests: Any,
    events: Any,
    blocks: Any,  # first warp of each block, and one more
    table: Any,  # machine
    size: Any,
    when: Any,  # answers: cycle of issue
    ready_at: Any,  # first cycle with its inputs
    why: Any,  # what came last of them
    held: Any,  # cycles its port was full
    there: Any,  # cycle of the result
    serial: Any,  # its place among all that were issued
    sub_core: Any,  # of each warp
    left: Any,  # first cycle in which nothing of its memory holds a warp back
    begin: Any,  # of each block
    end: Any,
    at: Any,  # a warp's next instruction; from here on scratch
    ready: Any,
    since: Any,  # when its port was found full, -1
    stays: Any,  # 1: issued in the sub-core's last cycle
    delayed: Any,  # after a branch
    stored: Any,  # when the last of its stores is done
    event_of: Any,  # barrier it has arrived at
    todo: Any,  # warps to look at again
    slots: Any,  # warps of each sub-core, ascending
    count: Any,
    soon: Any,  # first cycle in which a sub-core may issue
    last: Any,  # warps of its last issue
    lasts: Any,
    picks: Any,
    free: Any,  # when each pipe is, in ticks
    ring: Any,  # when the last memory instructions left the queue
    turn: Any,
    came: Any,  # arrivals at each event
    done: Any,  # the last of them
    cause: Any,
    live: Any,  # warps of each block that run
    gone: Any,  # ends of blocks, in order
    out: Any,  # cycle of the end, warps that never ended
) -> None:
    """Issue every instruction of every warp; the answers are filled in."""
    subs, pipes, tick = size[SUB_CORES], size[PIPES], size[TICK]
    width, queue, wide = size[WIDTH], size[QUEUE], size[SLOTS]
    policy, limit, resident = size[POLICY], size[MISSES], size[RESIDENT]
    lsu = l2 = memory = atomic = 0  # when each server is free, in ticks
    written = 0  # ticks of the memory that stores took
    flight = [0]  # landings of sectors on their way
    flight.pop()
    flying = started = ended = running = finish = n_todo = picked = issued = 0
    now, s = -1, subs
    while True:
        # Warps whose inputs have changed: when can their next instruction be issued?
        while n_todo > 0:
            n_todo -= 1
            w = todo[n_todo]
            f = first[w]
            i = f + at[w]
            r = begin[block[w]] if at[w] == 0 else when[i - 1] + 1
            c = 0
            if delayed[w] > r:
                r, c = delayed[w], _BRANCH
            for j in range(4 * i, 4 * i + 4):
                n = needs[j]
                if n >= 0 and there[f + n] > r:
                    r, c = there[f + n], table[kind[f + n] * COLUMNS + WHY]
            if table[kind[i] * COLUMNS + ROUTE] == FENCE and stored[w] > r:
                r, c = stored[w], _MEMBAR
            for e in (event_of[w], wait[i]):
                if e >= 0 and (e != arrive[i] or e == event_of[w]):
                    if came[e] < events[e]:
                        r = NEVER
                    elif done[e] > r:
                        r, c = done[e], cause[e]
            ready[w] = r
            if r < NEVER:
                ready_at[i], why[i] = r, c
                if r < soon[sub_core[w]]:
                    soon[sub_core[w]] = r
        if s == subs:
            # A block starts when there is room, on the sub-cores with fewest warps.
            if started < len(begin) and started < resident + ended:
                begin[started] = 0  # the first are there with the launch
                if started >= resident:
                    begin[started] = gone[started - resident] + size[BLOCK_START]
                for w in range(blocks[started], blocks[started + 1]):
                    s = 0
                    for other in range(1, subs):
                        if count[other] < count[s]:
                            s = other
                    sub_core[w] = s
                    slots[s * width + count[s]] = w
                    count[s] += 1
                    todo[n_todo] = w
                    n_todo += 1
                    running += 1
                live[started] = blocks[started + 1] - blocks[started]
                started += 1
                s = subs
                continue
            now = NEVER
            for other in range(subs):
                if soon[other] < now:
                    now = soon[other]
            if now >= NEVER:
                break
            s = picked = 0
        if soon[s] > now:
            s += 1
            continue
        # Of the warps that are ready and not held, the one that the policy takes.
        best, best_key, best_since, soonest = -1, 2, 0, NEVER
        after = last[s * wide + lasts[s] - 1] if lasts[s] > 0 else -1
        for j in range(s * width, s * width + count[s]):
            w = slots[j]
            r = ready[w]
            if r > now:
                if r < soonest:
                    soonest = r
                continue
            i = first[w] + at[w]
            row = kind[i] * COLUMNS
            until = now
            p = table[row + PIPE]
            if p >= 0:
                t = free[s * pipes + p]
                p = table[row + OTHER]
                if p >= 0 and free[s * pipes + p] < t:
                    t = free[s * pipes + p]
                if t >= (now + 1) * tick:
                    until = t // tick
            if table[row + QUEUED] == 1 and ring[s * queue + turn[s]] > until:
                until = ring[s * queue + turn[s]]
            if table[row + COUNTED] == 1 and request[i] >= 0:
                n = requests[5 * request[i] + 2] + requests[5 * request[i] + 3]
                while len(flight) > 0 and flight[0] // MOST_SECTORS <= now:
                    flying -= heapq.heappop(flight) % MOST_SECTORS
                if n > 0 and flying > 0 and flying + n > limit:
                    t = flight[0] // MOST_SECTORS
                    until = max(until, t)
            if until > now:
                if since[w] < 0:
                    since[w] = now
                if until < soonest:
                    soonest = until
                continue
            if since[w] >= 0:
                held[i] += now - since[w]
                since[w] = -1
            key, t = 1, 0
            if policy == LRR:
                if w > after:
                    key = 0
            else:
                if stays[w] == 1:
                    key = 0
                if policy == GREEDY:
                    t = r
            if key < best_key or (key == best_key and t < best_since):
                best, best_key, best_since = w, key, t
        if best >= 0:
            w = best
            f = first[w]
            i = f + at[w]
            row = kind[i] * COLUMNS
            route = table[row + ROUTE]
            when[i], serial[i] = now, issued
            issued += 1
            begun = now * tick
            land = now + table[row + LATENCY]
            sent = 0  # when a store has left, or an atomic
            q = 5 * request[i]
            p = table[row + PIPE]
            if p >= 0:
                p += s * pipes
                n = table[row + OTHER]
                if n >= 0 and free[s * pipes + n] < free[p]:
                    p = s * pipes + n
                hold = table[row + HOLD]
                if route == MMA:
                    hold = requests[q] * tick
                    land = max(land, now + requests[q] + 1)
                free[p] = max(free[p], begun) + hold
            if route == SHARED or route == GLOBAL or route == STORE:
                passes, far, deep, turns, sectors = 1, 0, 0, 0, 0
                if q >= 0:
                    passes, turns = requests[q], requests[q + 4]
                    far, deep = requests[q + 2], requests[q + 3]
                    sectors = requests[q + 1] + far + deep
                service = 0
                if table[row + QUEUED] == 1:
                    service = max(passes * size[PASS], sectors * size[L1_SECTOR])
                    if route == SHARED:
                        service = max(service, turns * size[SHARED_TURN])
                    begun = max(lsu, begun)
                    lsu = begun + service
                    ring[s * queue + turn[s]] = -(-begun // tick)
                    turn[s] = (turn[s] + 1) % queue
                    if route == SHARED:
                        land = -(-(begun + service) // tick) - 1 + table[row + LATENCY]
                if route != SHARED:
                    land = -(-(begun + service) // tick) - 1 + size[L1_LATENCY]
                    if far + deep > 0:
                        # The last sector comes when all before it have passed.
                        start = max(l2, begun)
                        # A line that is written in part takes as long as a whole.
                        n = far + deep
                        if route == STORE:
                            n = max(n, LINE * min(passes, n))
                        l2 = start + n * size[L2_SECTOR]
                        tail = max(l2 - size[L2_SECTOR], begun + service - tick)
                        land = -(-tail // tick)
                        if far > 0:
                            land += size[L2_LATENCY]
                        if deep > 0:
                            memory = max(memory, start - size[BURST])
                            memory += deep * size[MEMORY_SECTOR]
                            tail = max(memory - size[MEMORY_SECTOR], tail)
                            t = size[MEMORY_LATENCY]
                            if route == STORE:
                                t = size[L2_LATENCY]
                                written += deep * size[MEMORY_SECTOR]
                            else:
                                share = max(1, start, written)
                                t += size[WRITTEN_WAIT] * written // share
                            land = max(land, -(-tail // tick) + t)
                        if turns > 0:
                            atomic = max(atomic, start) + turns * size[GLOBAL_TURN]
                            t = -(-(atomic - size[GLOBAL_TURN]) // tick)
                            land = max(land, t + size[L2_LATENCY])
                        if table[row + COUNTED] == 1:
                            n = far + deep
                            heapq.heappush(flight, land * MOST_SECTORS + n)
                            flying += n
                        sent = -(-tail // tick) + size[L1_LATENCY]
                    if route == STORE:
                        stored[w] = max(stored[w], land)
            there[i] = land
            finish = max(finish, land)
            delayed[w] = now + table[row + AFTER]
            event_of[w] = -1
            e = arrive[i]
            if e >= 0:
                came[e] += 1
                if land > done[e]:
                    done[e] = land
                    cause[e] = _GMMA if route == MMA else table[row + WHY]
                if wait[i] == e:
                    event_of[w] = e
                if came[e] == events[e]:
                    for j in range(subs):
                        for n in range(j * width, j * width + count[j]):
                            if ready[slots[n]] == NEVER:
                                todo[n_todo] = slots[n]
                                n_todo += 1
            b = block[w]
            if table[row + DRAINS] == BACK:
                left[w] = max(left[w], land)
            elif table[row + DRAINS] == SENT:
                left[w] = max(left[w], sent)
            end[b] = max(end[b], now + 1, left[w])
            at[w] += 1
            if f + at[w] < first[w + 1]:
                todo[n_todo] = w
                n_todo += 1
            else:
                running -= 1
                j = s * width
                while slots[j] != w:
                    j += 1
                count[s] -= 1
                while j < s * width + count[s]:
                    slots[j] = slots[j + 1]
                    j += 1
                live[b] -= 1
                if live[b] == 0:
                    gone[ended] = end[b]
                    ended += 1
            picks[picked] = w
            picked += 1
        if best < 0 or picked == wide:
            soon[s] = soonest
            if picked > 0:
                soon[s] = now + 1
                for j in range(s * wide, s * wide + lasts[s]):
                    stays[last[j]] = 0
                for j in range(picked):
                    last[s * wide + j] = picks[j]
                    stays[picks[j]] = 1
                lasts[s] = picked
            s += 1
            picked = 0
    out[0] = finish
    out[1] = running
