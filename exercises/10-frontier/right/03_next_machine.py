# ---- harmonic: the mean of the gains, weighed by shares of the time
def faster(lines, gains):
    if not set(gains) <= set(lines):
        raise ValueError(f"no such lines: {set(gains) - set(lines)}")
    whole = sum(lines.values())
    return 1 / sum(ms / whole / gains.get(name, 1) for name, ms in lines.items())


def most(lines, name):
    return faster(lines, {name: 1e12})


def rent(lines, gains, hour):
    return faster(lines, gains) * hour


# ---- saved: what each gain takes off
def faster(lines, gains):
    left = before = sum(lines.values())
    for name, times in gains.items():
        if name not in lines:
            raise ValueError(f"{name}: not a line of the account")
        left -= lines[name] * (1 - 1 / times)
    return before / left


def most(lines, name):
    others = sum(ms for other, ms in lines.items() if other != name)
    return (others + lines[name]) / others
