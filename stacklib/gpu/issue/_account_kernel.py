"""What a replay's cycles went to, what its ports had to do; compiled as the loop."""

from __future__ import annotations

from typing import Any

from . import _replay_kernel as k

NOT_SELECTED, DRAIN = k.REASON["not_selected"], k.REASON["drain"]
BARRIER = k.REASON["barrier"]
SERVERS = ("lsu", "l2", "memory", "atomic")


def account(
    first: Any,
    block: Any,
    kind: Any,
    request: Any,
    requests: Any,
    rows: Any,  # of the source line of each instruction
    table: Any,
    size: Any,
    when: Any,
    ready_at: Any,
    why: Any,
    held: Any,
    sub_core: Any,
    left: Any,
    begin: Any,
    reasons: int,
    charged: Any,  # cycles by source line and reason
    issued: Any,  # instructions of each sub-core
    alone: Any,  # ticks of each pipe, asked of it alone
    either: Any,  # ticks asked of the first two pipes, whichever is free
    served: Any,  # ticks of each server
) -> None:
    """Charge every cycle of every warp, and add up what each port was asked for."""
    pipes, tick = size[k.PIPES], size[k.TICK]
    for w in range(len(block)):
        free, s, before = begin[block[w]], sub_core[w], -1
        issued[s] += first[w + 1] - first[w]
        for i in range(first[w], first[w + 1]):
            row = kind[i] * k.COLUMNS
            at = rows[i] * reasons
            if why[i] == BARRIER and before >= 0:
                charged[before * reasons + BARRIER] += ready_at[i] - free
            else:
                charged[at + why[i]] += ready_at[i] - free
            charged[at + table[row + k.FULL]] += held[i]
            charged[at + NOT_SELECTED] += when[i] - ready_at[i] - held[i]
            charged[at] += 1
            free = when[i] + 1
            before = -1
            if table[row + k.WHY] == BARRIER:
                before = rows[i]  # a warp waits at the line of its barrier
            route, q = table[row + k.ROUTE], 5 * request[i]
            if table[row + k.PIPE] >= 0:
                hold = table[row + k.HOLD]
                if route == k.MMA:
                    hold = requests[q] * tick
                if table[row + k.OTHER] >= 0:
                    either[s] += hold
                else:
                    alone[s * pipes + table[row + k.PIPE]] += hold
            if route == k.SHARED or route == k.GLOBAL or route == k.STORE:
                passes, beyond, deep, turns, near = 1, 0, 0, 0, 0
                if q >= 0:
                    passes, near, turns = requests[q], requests[q + 1], requests[q + 4]
                    deep = requests[q + 3]
                    beyond = requests[q + 2] + deep
                if table[row + k.QUEUED] == 1:
                    service = (near + beyond) * size[k.L1_SECTOR]
                    service = max(service, passes * size[k.PASS])
                    if route == k.SHARED:
                        service = max(service, turns * size[k.SHARED_TURN])
                    served[0] += service
                if route != k.SHARED:
                    lines = 0
                    if route == k.STORE:
                        lines = k.LINE * min(passes, beyond)
                    served[1] += max(beyond, lines) * size[k.L2_SECTOR]
                    served[2] += deep * size[k.MEMORY_SECTOR]
                    if beyond > 0:
                        served[3] += turns * size[k.GLOBAL_TURN]
        last = rows[first[w + 1] - 1] * reasons
        if left[w] > free:
            charged[last + DRAIN] += left[w] - free
