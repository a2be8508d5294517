# ---- busy_only: You paid for the gaps too.
def tensor(events, peak):
    return kernel_trace.tensor_share(events, peak) / busy(events)


# ---- copies_too: A copy is no kernel.
def busy(events):
    return kernel_trace.busy([{**e, "cat": "kernel"} for e in events])


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
