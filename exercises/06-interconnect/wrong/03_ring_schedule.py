# ---- too_many: One step too many adds
def ring(n):
    return [
        (step, chip, (chip + 1) % n, (chip - step) % n, step < n)
        for step in range(2 * (n - 1))
        for chip in range(n)
    ]


# ---- half: That is the half that sums
def ring(n):
    return [
        (step, chip, (chip + 1) % n, (chip - step) % n, True)
        for step in range(n - 1)
        for chip in range(n)
    ]


# ---- same_chunk: Each chip sends the same chunk in every step
def ring(n):
    return [
        (step, chip, (chip + 1) % n, chip, step < n - 1)
        for step in range(2 * (n - 1))
        for chip in range(n)
    ]


# ---- rising: The chunk's number rises with the step
def ring(n):
    return [
        (step, chip, (chip + 1) % n, (chip + step) % n, step < n - 1)
        for step in range(2 * (n - 1))
        for chip in range(n)
    ]


# ---- only_sums: You counted only the sends that add
def chunks_sent(n):
    return n - 1


# ---- nothing: sends nothing: of every chunk
def ring(n):
    return []
