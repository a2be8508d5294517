# ---- bump: a climb of single steps ends at a bump
def _point(space, places):
    chosen = (values[at] for values, at in zip(space.values(), places, strict=True))
    return dict(zip(space, chosen, strict=True))


def tune(space, measure, budget, seed):
    rng, axes, seen = random.Random(seed), list(space.values()), {}

    def paid(place):
        if place not in seen and len(seen) < budget:
            seen[place] = measure(_point(space, place))
        return seen.get(place, math.inf)

    every = math.prod(map(len, axes))
    while len(seen) < min(budget, every):
        here = tuple(rng.randrange(len(values)) for values in axes)
        paid(here)
        moved = True
        while moved and len(seen) < budget:
            moved = False
            steps = [(axis, by) for axis in range(len(axes)) for by in (1, -1)]
            rng.shuffle(steps)
            for axis, by in steps:
                at = here[axis] + by
                if 0 <= at < len(axes[axis]):
                    place = (*here[:axis], at, *here[axis + 1 :])
                    if paid(place) < seen[here]:
                        here, moved = place, True
                        break
    return _point(space, min(seen, key=seen.get))


# ---- chance: use what the trials before have told
import itertools


def tune(space, measure, budget, seed):
    points = [
        dict(zip(space, p, strict=True)) for p in itertools.product(*space.values())
    ]
    random.Random(seed).shuffle(points)
    return min(points[:budget], key=measure)


# ---- last: is not the fastest that you measured
def tune(space, measure, budget, seed):
    rng = random.Random(seed)
    for _ in range(budget):
        point = {name: rng.choice(values) for name, values in space.items()}
        measure(point)
    return point


# ---- twice: more than 48 trials
import itertools


def tune(space, measure, budget, seed):
    points = [
        dict(zip(space, p, strict=True)) for p in itertools.product(*space.values())
    ]
    random.Random(seed).shuffle(points)
    fastest = points[0]
    for point in points[1:budget]:
        if measure(point) < measure(fastest):
            fastest = point
    return fastest


# ---- unseeded: the same seed made other trials
def tune(space, measure, budget, seed):
    rng, seen = random.Random(), {}
    names = list(space)

    def paid(point):
        key = tuple(point[name] for name in names)
        if key not in seen and len(seen) < budget:
            seen[key] = measure(point)
        return seen.get(key, math.inf)

    every = math.prod(map(len, space.values()))
    while len(seen) < min(budget, every):
        here = {name: rng.choice(space[name]) for name in names}
        paid(here)
        for name in sorted(names, key=lambda _: rng.random()) * 2:
            line = [{**here, name: value} for value in space[name]]
            here = min(line, key=paid)
    return dict(zip(names, min(seen, key=seen.get), strict=True))
