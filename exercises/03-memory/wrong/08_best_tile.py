# ---- narrow_sums: your sums are as narrow as the operands
def best(n, staging, sums, sides, tile_k=64, stages=2, width=2):
    fitting = [
        (a, b)
        for a in sides
        for b in sides
        if staged(a, b, tile_k, stages, width) <= staging and width * a * b <= sums
    ]
    return min(fitting, key=lambda t: (moved(n, n, n, *t), t[0]), default=None)


# ---- no_result: You left out that the result is written.
def moved(m, n, k, tile_m, tile_n):
    return m * n * k * (1 / tile_n + 1 / tile_m)


# ---- no_sums: its sums do not fit
def best(n, staging, sums, sides, tile_k=64, stages=2, width=2):
    fitting = [
        (a, b)
        for a in sides
        for b in sides
        if staged(a, b, tile_k, stages, width) <= staging
    ]
    return min(fitting, key=lambda t: (moved(n, n, n, *t), t[0]), default=None)


# ---- numbers_for_bytes: You counted numbers; each has several bytes.
def staged(tile_m, tile_n, tile_k, stages, width):
    return stages * tile_k * (tile_m + tile_n)


# ---- one_stage: You hold one step; the next is under way already.
def staged(tile_m, tile_n, tile_k, stages, width):
    return tile_k * (tile_m + tile_n) * width


# ---- sides_swapped: You read X once a row of tiles
def moved(m, n, k, tile_m, tile_n):
    return k * (m * m / tile_m + n * n / tile_n) + m * n


# ---- squares_only: you tried squares only
def best(n, staging, sums, sides, tile_k=64, stages=2, width=2):
    fitting = [
        (a, b)
        for a in sides
        for b in (a,)
        if staged(a, b, tile_k, stages, width) <= staging and 4 * a * b <= sums
    ]
    return min(fitting, key=lambda t: (moved(n, n, n, *t), t[0]), default=None)
