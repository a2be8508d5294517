# ---- by_erf: the normal distribution by its error function
def chance(value, low, high, least):
    if min(value, low, high, least) <= 0 or not low < value < high:
        raise ValueError("no band")
    if least >= value:
        away = math.log(least / value) / math.log(high / value)
    else:
        away = -math.log(value / least) / math.log(value / low)
    return (1 - math.erf(TAIL * away / math.sqrt(2))) / 2


# ---- by_hand: quoted by hand; scores in one walk
def ladder(thread, due, band, rungs):
    name, words, settles = thread
    lines = [",".join(HEAD)]
    for i, rung in enumerate(rungs):
        told = words.format(rung).replace('"', '""')
        given = chance(*band, rung)
        lines.append(f'{name}-{i + 1},{due},"{told}","{settles}",{given!r}')
    return "\n".join(lines) + "\n"


def score(probabilities, outcomes):
    brier, log, count = 0.0, 0.0, 0
    for p, word in zip(probabilities, outcomes, strict=True):
        if word in ("open", "void"):
            continue
        miss = 1 - p if word == "true" else p
        brier, count = brier + miss * miss, count + 1
        log = log - math.log1p(-miss) if miss < 1 else math.inf
    return (brier / count, log / count) if count else None
