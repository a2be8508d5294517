# ---- lists: two lines, one before the door and one inside
def continuous(rows, slots, first, each):
    waiting, inside, clock, times = list(range(len(rows))), {}, 0, {}
    while waiting or inside:
        if not inside and rows[waiting[0]][0] > clock:
            clock = rows[waiting[0]][0]
        while waiting and len(inside) < slots and rows[waiting[0]][0] <= clock:
            who = waiting.pop(0)
            inside[who] = rows[who][1]
        clock += first + each * len(inside)
        for who in tuple(inside):
            times.setdefault(who, clock - rows[who][0])
            inside[who] -= 1
            if inside[who] == 0:
                inside.pop(who)
    return [times[who] for who in sorted(times)]


def static(rows, slots, first, each):
    times, clock, at = [], 0, 0
    while at < len(rows):
        clock = max(clock, rows[at][0])
        batch = [row for row in rows[at : at + slots] if row[0] <= clock]
        times += [clock + first + each * len(batch) - came for came, _ in batch]
        for step in range(max(new for _, new in batch)):
            clock += first + each * sum(new > step for _, new in batch)
        at += len(batch)
    return times


def percentile(times, percent):
    return min(
        t for t in times if sum(x <= t for x in times) * 100 >= percent * len(times)
    )


# ---- events: a heap of what happens next
def continuous(rows, slots, first, each):
    import heapq

    events = [(at, 1, who) for who, (at, _) in enumerate(rows)]
    line, inside, times, busy = [], {}, {}, False
    heapq.heapify(events)
    while events:
        now = events[0][0]
        while events and events[0][0] == now:
            _, kind, who = heapq.heappop(events)
            if kind:
                line.append(who)
                continue
            busy = False
            for each_one in inside:
                times.setdefault(each_one, now - rows[each_one][0])
                inside[each_one] -= 1
            inside = {one: left for one, left in inside.items() if left}
        if busy:
            continue
        while line and len(inside) < slots:
            who = line.pop(0)
            inside[who] = rows[who][1]
        if inside:
            busy = True
            heapq.heappush(events, (now + first + each * len(inside), 0, -1))
    return [times[who] for who in range(len(rows))]


def percentile(times, percent):
    from math import ceil

    ordered = sorted(times, reverse=True)
    return ordered[len(times) - max(1, ceil(percent * len(times) / 100))]
