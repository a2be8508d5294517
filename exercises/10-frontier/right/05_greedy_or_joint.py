# ---- filtered: all points that differ along one axis at the most
def moved(axes, time, at, axis):
    def apart(point):
        return {i for i, (a, b) in enumerate(zip(point, at, strict=True)) if a != b}

    return min((p for p in time if apart(p) <= {axis}), key=time.__getitem__)


# ---- recursive: the last axis after the others; rounds until the time stays
def greedy(axes, time, order):
    def after(order):
        if not order:
            return start(axes, time)
        *before, axis = order
        return moved(axes, time, after(before), axis)

    return time[after(list(order))]


def settled(axes, time):
    at = start(axes, time)
    while True:
        then = at
        for axis in range(len(axes)):
            then = moved(axes, time, then, axis)
        if time[then] == time[at]:
            return time[at]
        at = then
