# diagnosis: Kernels that overlap share the time; count it once.
def busy(events):
    first = min(e["ts"] for e in events)
    last = max(e["ts"] + e["dur"] for e in events)
    return sum(e["dur"] for e in events if e["cat"] == "kernel") / (last - first)


def tensor(events, peak):
    return kernel_trace.tensor_share(events, peak)
