# ---- bits: a number for each set
def first_fault(chips, chunks, sends):
    holds = {(at, c): 1 << at for at in range(chips) for c in range(chunks)}
    for step in sorted({send[0] for send in sends}):
        mine = [send for send in sends if send[0] == step]
        came = [holds[send[1], send[3]] for send in mine]
        for (_, _, to, chunk, adds), mask in zip(mine, came, strict=True):
            if adds and holds[to, chunk] & mask:
                return ["twice", step, to, chunk]
            holds[to, chunk] = mask | (holds[to, chunk] if adds else 0)
    lacking = [key for key, mask in holds.items() if mask != 2**chips - 1]
    return ("missing", *min(lacking)) if lacking else None


# ---- arrays: contributions as rows of NumPy
import numpy as np


def first_fault(chips, chunks, sends):
    holds = np.zeros((chips, chunks, chips), int)
    for chip in range(chips):
        holds[chip, :, chip] = 1
    before, now = holds.copy(), None
    for step, source, to, chunk, adds in sends:
        if step != now:
            before, now = holds.copy(), step
        came = before[source, chunk]
        holds[to, chunk] = came + (holds[to, chunk] if adds else 0)
        if holds[to, chunk].max() > 1:
            return ("twice", np.int64(step), np.int64(to), np.int64(chunk))
    lacking = np.argwhere((holds == 0).any(axis=2))
    return ("missing", *lacking[0]) if len(lacking) else None
