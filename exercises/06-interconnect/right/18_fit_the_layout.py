# ---- kinds: a table of what each level cuts
KINDS = {"optimizer": (12, 1), "gradients": (4, 2), "weights": (2, 3)}


def states(parameters, tp, pp, dp, zero):
    each = sum(size / dp if zero >= level else size for size, level in KINDS.values())
    return each * parameters / tp / pp


def ways(chips, layers, heads):
    divisors = [n for n in range(1, chips + 1) if not chips % n]
    return {
        (tp, pp, chips // tp // pp)
        for tp in divisors
        for pp in divisors
        if not (chips // tp) % pp and not heads % tp and not layers % pp
    }


def lightest(parameters, chips, layers, heads, room, zero):
    for one in sorted(ways(chips, layers, heads)):
        if states(parameters, *one, zero) <= room:
            return one
    return None


# ---- arrays: all layouts at once, in NumPy
import numpy as np


def ways(chips, layers, heads):
    tp, pp = np.meshgrid(np.arange(1, chips + 1), np.arange(1, chips + 1))
    good = (chips % (tp * pp) == 0) & (heads % tp == 0) & (layers % pp == 0)
    return np.stack([tp[good], pp[good], chips // (tp[good] * pp[good])], axis=1)


def lightest(parameters, chips, layers, heads, room, zero):
    found = ways(chips, layers, heads)
    sizes = np.array([states(parameters, *one, zero) for one in found])
    fit = found[sizes <= room]
    return min(map(tuple, fit.tolist())) if len(fit) else None
