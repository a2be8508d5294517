# ---- alone: Each level of ZeRO cuts what the levels below it cut
def states(parameters, tp, pp, dp, zero):
    cut = {1: 12, 2: 4, 3: 2}.get(zero, 0)
    return parameters / (tp * pp) * (18 - cut + cut / dp)


# ---- all_cut: Level 1 cuts the optimizer state alone
def states(parameters, tp, pp, dp, zero):
    return parameters * 18 / (tp * pp * (dp if zero else 1))


# ---- no_pipeline: The pipeline cuts the layers
def states(parameters, tp, pp, dp, zero):
    cut = [dp if zero >= level else 1 for level in (1, 2, 3)]
    return parameters / tp * (12 / cut[0] + 4 / cut[1] + 2 / cut[2])


# ---- no_heads: does not divide heads and layers
def ways(chips, layers, heads):
    return [
        (tp, pp, chips // (tp * pp))
        for tp in range(1, chips + 1)
        for pp in range(1, chips + 1)
        if chips % (tp * pp) == 0
    ]


# ---- holds_least: You took the layout that holds least
def lightest(parameters, chips, layers, heads, room, zero):
    fit = [
        (states(parameters, *one, zero), one)
        for one in ways(chips, layers, heads)
        if states(parameters, *one, zero) <= room
    ]
    return min(fit)[1] if fit else None


# ---- pipeline_first: Smallest tp first, then smallest pp
def lightest(parameters, chips, layers, heads, room, zero):
    fit = [
        (pp, tp, dp)
        for tp, pp, dp in ways(chips, layers, heads)
        if states(parameters, tp, pp, dp, zero) <= room
    ]
    if not fit:
        return None
    pp, tp, dp = min(fit)
    return tp, pp, dp
