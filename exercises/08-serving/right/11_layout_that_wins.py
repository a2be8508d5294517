# ---- bisection: the largest batch of each, since a token's time grows with it
def token_time(step, prompt, batch, new):
    return (new * step + (batch - 1) * prompt) / new


def rate(step, prompt, batch, new):
    return batch * new / (new * step + batch * prompt)


def best(times, room, gpus, new, limit):
    winner = None
    for chips in (n for n in (1, 2, 4, 8) if n <= gpus):
        low, high = 0, max(0, int(room(chips)))
        while low < high:
            middle = (low + high + 1) // 2
            if token_time(*times(chips, middle), middle, new) <= limit:
                low = middle
            else:
                high = middle - 1
        if not low:
            continue
        made = gpus // chips * rate(*times(chips, low), low, new)
        if winner is None or made > winner[2]:
            winner = chips, low, made
    return winner


# ---- listed: every layout as a row, sorted
def token_time(step, prompt, batch, new):
    return step + prompt * (batch - 1) / new


def rate(step, prompt, batch, new):
    return 1 / (step / batch + prompt / new)


def best(times, room, gpus, new, limit):
    rows = [
        (chips, batch, gpus // chips * rate(*times(chips, batch), batch, new))
        for chips in (8, 4, 2, 1)
        for batch in range(int(max(room(chips), 0)), 0, -1)
        if chips <= gpus and token_time(*times(chips, batch), batch, new) <= limit
    ]
    return max(rows, key=lambda row: row[2], default=None)
