# diagnosis: You counted numbers; each has several bytes.
def moved(m, n, k, tile_m, tile_n):
    """Numbers read and written for the whole product."""
    return m * n * k * (1 / tile_n + 1 / tile_m) + m * n


def staged(tile_m, tile_n, tile_k, stages, width):
    """Bytes of shared memory that one block's operands take."""
    return stages * tile_k * (tile_m + tile_n)


def best(n, staging, sums, sides, tile_k=64, stages=2, width=2):
    """The pair of sides that fits and moves least; None if none fits."""
    fitting = [
        (a, b)
        for a in sides
        for b in sides
        if staged(a, b, tile_k, stages, width) <= staging and 4 * a * b <= sums
    ]
    return min(fitting, key=lambda t: (moved(n, n, n, *t), t[0]), default=None)
