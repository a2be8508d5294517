# ---- edges: between two neighbouring edges somebody runs, or nobody
from itertools import pairwise


def busy(events):
    spans = [(e["ts"], e["ts"] + e["dur"]) for e in events]
    kernels = [s for s, e in zip(spans, events, strict=True) if e["cat"] == "kernel"]
    edges = sorted({edge for span in spans for edge in span})
    ran = sum(
        b - a
        for a, b in pairwise(edges)
        if any(start <= a and b <= end for start, end in kernels)
    )
    return ran / (edges[-1] - edges[0])


def tensor(events, peak):
    last = max(e["ts"] + e["dur"] for e in events)
    room = peak * 1e-6 * (last - min(e["ts"] for e in events))
    done = 0.0
    for e in events:
        done += e["args"]["flop"]
    return done / room


# ---- arrays: a running maximum of the ends
import numpy as np


def columns(events, *cats):
    found = [e for e in events if e["cat"] in cats]
    rows = [(e["ts"], e["ts"] + e["dur"], e["args"]["flop"]) for e in found]
    return np.array(sorted(rows)).T


def busy(events):
    start, end, _ = columns(events, "kernel")
    covered = np.maximum.accumulate(end)
    before = np.concatenate([[start[0]], covered[:-1]])
    ran = np.clip(covered - np.maximum(start, before), 0, None).sum()
    first, last, _ = columns(events, "kernel", "gpu_memcpy")
    return ran / (last.max() - first.min())


def tensor(events, peak):
    first, last, flop = columns(events, "kernel", "gpu_memcpy")
    return 1e6 * flop.sum() / (np.ptp(np.concatenate([first, last])) * peak)
