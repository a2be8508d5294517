# ---- gpipe: All forwards first is GPipe
def order(stage, stages, microbatches):
    numbers = range(microbatches)
    return [("f", k) for k in numbers] + [("b", k) for k in numbers]


# ---- no_lead: A stage has to be ahead of its backwards
def order(stage, stages, microbatches):
    return [(kind, k) for k in range(microbatches) for kind in "fb"]


# ---- deadlock: deadlock: stage 0 waits with backward of microbatch 0
def order(stage, stages, microbatches):
    found = [(kind, k) for k in range(microbatches) for kind in "fb"]
    return found if stage else found[1::-1] + found[2:]


# ---- forgotten: never does backward of microbatch
def order(stage, stages, microbatches):
    ahead = min(stages - 1 - stage, microbatches)
    found = [("f", k) for k in range(ahead)]
    for k in range(microbatches - ahead):
        found += [("f", ahead + k), ("b", k)]
    return found


# ---- behind: one more than the stages behind
def held(stage, stages, microbatches):
    return min(stages - 1 - stage, microbatches)


# ---- one_way: It waits for the way there and for the way back
def step_time(stages, microbatches, forward, backward):
    return microbatches * (forward + backward) + (stages - 1) * forward
