# ---- counted: core by core, and the buffer as a formula
def fetched(m, n, k, rows, cols, shared):
    if shared:
        return k * (m + n)
    return sum(k * (m // rows + n // cols) for _ in range(rows * cols))


def links(m, n, k, rows, cols, shared):
    total = 0
    for row in range(rows):
        for col in range(cols):
            total += m // rows * k * (min(col, 1) if shared else col)
            total += n // cols * k * (min(row, 1) if shared else row)
    return total


def done(read, work, tiles, slots):
    if slots == 1:
        return tiles * (read + work)
    return read + work + (tiles - 1) * max(read, work)


# ---- ring: the buffer as a ring of times at which its places are free
def done(read, work, tiles, slots):
    free, reader, worker = [0] * slots, 0, 0
    for i in range(tiles):
        reader = max(reader, free[i % slots]) + read
        worker = max(worker, reader) + work
        free[i % slots] = worker
    return worker
