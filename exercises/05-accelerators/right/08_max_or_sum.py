# ---- sorted_out: one engine after the other
def work(rows):
    names = sorted({engine for engine, _ in rows})
    return {name: sum(t for e, t in rows if e == name) for name in names}


def summed(rows, tiles):
    total = 0.0
    for _ in range(tiles):
        for row in rows:
            total += row[1]
    return total


def longest(rows):
    return sorted(work(rows).items(), key=lambda pair: pair[1])[-1][0]


def least(rows, tiles):
    return sorted(work(rows).values())[-1] * tiles


def relieved(rows, engine, factor):
    faster = [(e, t / factor) if e == engine else (e, t) for e, t in rows]
    return least(rows, 1) / least(faster, 1)


def pieces(columns, bank):
    return -(-columns // bank)


# ---- by_name: the largest of all engines, found by name
def pace(rows):
    most = 0.0
    for name in {engine: None for engine, _ in rows}:
        most = max(most, math.fsum(t for e, t in rows if e == name))
    return most


def summed(rows, tiles):
    return tiles * math.fsum(time for _, time in rows)


def longest(rows):
    best, most = "", -1.0
    for name in {e: None for e, _ in rows}:
        done = sum(t for e, t in rows if e == name)
        if done > most:
            best, most = name, done
    return best


def least(rows, tiles):
    return tiles * pace(rows)


def relieved(rows, engine, factor):
    after = pace([(e, t / factor if e == engine else t) for e, t in rows])
    return pace(rows) / after


def pieces(columns, bank):
    count = 1
    while count * bank < columns:
        count += 1
    return count
