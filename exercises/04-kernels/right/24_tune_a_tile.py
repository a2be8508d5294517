# ---- axes: one whole axis at a time, then from another start
def tune(space, measure, budget, seed):
    rng, seen = random.Random(seed), {}
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


# ---- values: a random half, then values mixed from the best four
def tune(space, measure, budget, seed):
    rng, seen = random.Random(seed), {}
    every = math.prod(map(len, space.values()))
    while len(seen) < min(budget, every):
        best = sorted(seen, key=seen.get)[:4]
        early = 2 * len(seen) < budget
        place = tuple(
            rng.choice(values)
            if early or rng.random() < 0.2
            else rng.choice([tile[axis] for tile in best])
            for axis, values in enumerate(space.values())
        )
        if place not in seen:
            seen[place] = measure(dict(zip(space, place, strict=True)))
    return dict(zip(space, min(seen, key=seen.get), strict=True))
