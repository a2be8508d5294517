# ---- one_by_one: You let a send see what another send of its step has brought
def first_fault(chips, chunks, sends):
    holds = [[{chip} for _ in range(chunks)] for chip in range(chips)]
    for step, source, to, chunk, adds in sends:
        came = holds[source][chunk]
        if adds and holds[to][chunk] & came:
            return ("twice", step, to, chunk)
        holds[to][chunk] = came | (holds[to][chunk] if adds else set())
    for chip in range(chips):
        for chunk in range(chunks):
            if len(holds[chip][chunk]) < chips:
                return ("missing", chip, chunk)
    return None


# ---- counts: You count contributions
def first_fault(chips, chunks, sends):
    holds = [[1] * chunks for _ in range(chips)]
    now = None
    for step, source, to, chunk, adds in sends:
        if step != now:
            now, before = step, [list(row) for row in holds]
        holds[to][chunk] = before[source][chunk] + (holds[to][chunk] if adds else 0)
    for chip in range(chips):
        for chunk in range(chunks):
            if holds[chip][chunk] != chips:
                return ("missing", chip, chunk)
    return None


# ---- only_twice: You look only at what is added twice
def first_fault(chips, chunks, sends):
    holds = [[{chip} for _ in range(chunks)] for chip in range(chips)]
    now = None
    for step, source, to, chunk, adds in sends:
        if step != now:
            now, before = step, [list(row) for row in holds]
        came = before[source][chunk]
        if adds and holds[to][chunk] & came:
            return ("twice", step, to, chunk)
        holds[to][chunk] = came | (holds[to][chunk] if adds else set())
    return None
