# ---- busy_only: You paid for the gaps too.
def tensor(events, peak):
    first = min(e["ts"] for e in events)
    last = max(e["ts"] + e["dur"] for e in events)
    ran = busy(events) * (last - first)
    return sum(e["args"]["flop"] for e in events) / (1e-6 * ran * peak)


# ---- copies_too: A copy is no kernel.
def busy(events):
    union, until = 0.0, 0.0
    for e in sorted(events, key=lambda e: e["ts"]):
        start, end = e["ts"], e["ts"] + e["dur"]
        union += max(0.0, end - max(start, until))
        until = max(until, end)
    return union / (until - min(e["ts"] for e in events))


# ---- microseconds: Times are in microseconds
def tensor(events, peak):
    first = min(e["ts"] for e in events)
    last = max(e["ts"] + e["dur"] for e in events)
    return sum(e["args"]["flop"] for e in events) / ((last - first) * peak)


# ---- overlaps_twice: Kernels that overlap share the time; count it once.
def busy(events):
    first = min(e["ts"] for e in events)
    last = max(e["ts"] + e["dur"] for e in events)
    return sum(e["dur"] for e in events if e["cat"] == "kernel") / (last - first)
