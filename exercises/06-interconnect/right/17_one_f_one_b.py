# ---- queue: what has arrived and what may still begin
def order(stage, stages, microbatches):
    found, forwards, backwards = [], 0, 0
    while backwards < microbatches:
        room = forwards - backwards < stages - stage
        if forwards < microbatches and room:
            found.append(("f", forwards))
            forwards += 1
        else:
            found.append(("b", backwards))
            backwards += 1
    return found


def held(stage, stages, microbatches):
    now = most = 0
    for kind, _ in order(stage, stages, microbatches):
        now += 1 if kind == "f" else -1
        most = max(most, now)
    return most


# ---- sorted: forwards and backwards by the turn that each has
def order(stage, stages, microbatches):
    ahead = stages - 1 - stage
    turns = [(2 * (k - ahead), "f", k) for k in range(microbatches)]
    turns += [(2 * k + 1, "b", k) for k in range(microbatches)]
    return [[kind, k] for _, kind, k in sorted(turns)]


def step_time(stages, microbatches, forward, backward):
    clock = [0.0] * stages
    pending = [order(stage, stages, microbatches) for stage in range(stages)]
    done = {}
    while any(pending):
        for stage, works in enumerate(pending):
            if not works:
                continue
            kind, k = works[0]
            before = stage - 1 if kind == "f" else stage + 1
            if 0 <= before < stages and (kind, k, before) not in done:
                continue
            came = done.get((kind, k, before), 0.0)
            clock[stage] = max(clock[stage], came) + (
                forward if kind == "f" else backward
            )
            done[kind, k, stage] = clock[stage]
            works.pop(0)
    return max(clock)
