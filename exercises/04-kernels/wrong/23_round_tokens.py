# ---- nearest: You round each count to its nearest
def rounded(counts, tile):
    return [round(count / tile) * tile for count in counts]


# ---- down: You round all counts down
def rounded(counts, tile):
    return [count // tile * tile for count in counts]


# ---- up: You round all counts up
def rounded(counts, tile):
    return [-(-count // tile) * tile for count in counts]


# ---- largest: they should go to those that lost most
def rounded(counts, tile):
    full = [count // tile * tile for count in counts]
    left = (sum(counts) - sum(full)) // tile
    for expert in sorted(range(len(counts)), key=lambda n: -counts[n])[:left]:
        full[expert] += tile
    return full


# ---- all_alike: Those who chose the expert come first
def members(gates, chose, wanted):
    return sorted(range(len(gates)), key=lambda t: -gates[t])[:wanted]


# ---- faintest: you keep the smallest gates
def members(gates, chose, wanted):
    own = sorted(chose, key=lambda t: gates[t])
    others = set(range(len(gates))) - set(chose)
    return [*own, *sorted(others, key=lambda t: -gates[t])][:wanted]


# ---- in_order: Their gates decide
def members(gates, chose, wanted):
    others = set(range(len(gates))) - set(chose)
    return [*chose, *sorted(others, key=lambda t: -gates[t])][:wanted]


# ---- too_much: A token that one expert drops
def stays():
    return ["rows in all", "experts of a token"]
