# diagnosis: Times are in microseconds
def busy(events):
    return kernel_trace.busy(events)


def tensor(events, peak):
    first = min(e["ts"] for e in events)
    last = max(e["ts"] + e["dur"] for e in events)
    return sum(e["args"]["flop"] for e in events) / ((last - first) * peak)
