# ---- times: from the machine's own time, token by token
def capacity(chunk, prompt, new, step):
    token = step / chunk
    return 1 / (token * prompt + token * (new - 1))


def wait(rate, chunk, prompt, new, step):
    free = 1 - rate * (new - 1) * step / chunk
    reading = prompt * step / chunk / free
    return rate * reading**2 / 2 / (1 - rate * reading)


def margin(rate, chunk, prompt, new, step):
    busy = rate * (prompt + new - 1) * step / chunk
    return (1 - busy) / busy


# ---- turns: the line by adding up who stands in it, until it no longer changes
def capacity(chunk, prompt, new, step):
    from fractions import Fraction

    rows = Fraction(prompt + new - 1)
    return float(chunk / rows / Fraction(step))


def wait(rate, chunk, prompt, new, step):
    reading = prompt * step / (chunk - rate * (new - 1) * step)
    begun = rate * reading * reading / 2
    waited, added = 0.0, begun
    while added > 1e-13 * begun:
        waited += added
        added *= rate * reading
    return waited


def margin(rate, chunk, prompt, new, step):
    longest = chunk / (rate * (prompt + new - 1))
    return longest / step - 1
