# ---- line_by_line: what counts of each, then the sum
def step(lines, together=()):
    counts = dict(lines)
    for group in together:
        missing = [name for name in group if name not in lines]
        if missing:
            raise ValueError(missing[0])
        longest = max(group, key=lines.get)
        counts |= {name: 0.0 for name in group if name != longest}
    return sum(counts.values())


# ---- ranked: all at once, the largest in front
def worth(lines, inputs, by=0.1, together=()):
    if strange := {k for own in inputs.values() for k in own} - lines.keys():
        raise ValueError(f"no line {sorted(strange)}")
    before = step(lines, together)

    def after(own):
        return step({**lines, **{k: lines[k] / (1 + by) for k in own}}, together)

    return {name: before / after(own) - 1 for name, own in inputs.items()}


def binds(lines, inputs, by=0.1, together=()):
    found = worth(lines, inputs, by, together)
    return sorted(found, key=lambda name: -found[name])[0]
