# ---- by_axes: each axis by itself, all nets counted at every swap
def length(net, at):
    if not net:
        raise ValueError("a net of no cells")
    spans = [{at[cell][axis] for cell in net} for axis in range(2)]
    return sum(max(span) - min(span) for span in spans)


def change(nets, at, a, b):
    before = sum(length(net, at) for net in nets)
    at[a], at[b] = at[b], at[a]
    after = sum(length(net, at) for net in nets)
    at[a], at[b] = at[b], at[a]
    return after - before


# ---- running_sum: the length is carried along, not counted again
def anneal(nets, at, draws):
    at, total = dict(at), sum(length(net, at) for net in nets)
    for a, b, u, temperature in draws:
        worse = change(nets, at, a, b)
        chance = 1.0 if worse <= 0 else 0.0
        if worse > 0 and temperature > 0:
            chance = math.exp(-worse / temperature)
        if u < chance or chance == 1.0:
            at[a], at[b] = at[b], at[a]
            total += worse
    return total
