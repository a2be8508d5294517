"""Sorts, grids, searches and bits."""

import numpy as np

from .case import Case, normal, rng, zeros


def bitonic_sort(t, keys, n):
    """A block's keys in shared memory (K. Batcher, 1968)."""
    s = t.shared(128, np.int32)
    i = t.thread.x
    s[i] = keys[i]
    t.sync()
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            other = i ^ j
            if other > i:
                low, high = s[i], s[other]
                if ((i & k) == 0) == (low > high):
                    s[i] = high
                    s[other] = low
            t.sync()
            j //= 2
        k *= 2
    keys[i] = s[i]


def odd_even_merge_sort(t, keys, n):
    """Batcher's other network; half as many threads as keys."""
    i = t.thread.x
    size = 2
    while size <= n:
        stride = size // 2
        at = 2 * i - (i & (stride - 1))
        if keys[at] > keys[at + stride]:
            low, high = keys[at + stride], keys[at]
            keys[at] = low
            keys[at + stride] = high
        t.sync()
        part = i & (size // 2 - 1)
        stride //= 2
        while stride > 0:
            at = 2 * i - (i & (stride - 1))
            if part >= stride:
                if keys[at - stride] > keys[at]:
                    low, high = keys[at], keys[at - stride]
                    keys[at - stride] = low
                    keys[at] = high
            t.sync()
            stride //= 2
        size *= 2


def radix_sort(t, keys, bits):
    """Split by each bit in turn, zeros first, places by a scan of a block."""
    s, place = t.shared(64, np.int32), t.shared(64, np.int32)
    i = t.thread.x
    s[i] = keys[i]
    t.sync()
    for bit in range(bits):
        key = s[i]
        zero = 1 - ((key >> bit) & 1)
        place[i] = zero
        t.sync()
        k = 1
        while k < 64:
            more = 0
            if i >= k:
                more = place[i - k]
            t.sync()
            place[i] += more
            t.sync()
            k *= 2
        zeros_before, all_zeros = place[i] - zero, place[63]
        t.sync()
        if zero == 1:
            s[zeros_before] = key
        else:
            s[all_zeros + i - zeros_before] = key
        t.sync()
    keys[i] = s[i]


def stencil_line(t, src, dst, n):
    """Seven points of a line; the edges of a block's part come along."""
    s = t.shared(70)
    i = t.block.x * 64 + t.thread.x
    x = t.thread.x + 3
    s[x] = src[i] if i < n else 0.0
    if t.thread.x < 3:
        s[x - 3] = src[i - 3] if i >= 3 else 0.0
        s[x + 64] = src[i + 64] if i + 64 < n else 0.0
    t.sync()
    total = 0.0
    for k in range(-3, 4):
        total += s[x + k]
    if i < n:
        dst[i] = total / 7.0


def jacobi_step(t, src, dst, rows, columns):
    x = t.block.x * 8 + t.thread.x
    y = t.block.y * 8 + t.thread.y
    if 0 < x < columns - 1 and 0 < y < rows - 1:
        around = src[y - 1, x] + src[y + 1, x] + src[y, x - 1] + src[y, x + 1]
        dst[y, x] = 0.25 * around


def stencil_space(t, src, dst, depth, rows, columns):
    """Seven points in space; a thread walks down with three layers in registers."""
    x = t.block.x * 4 + t.thread.x + 1
    y = t.block.y * 4 + t.thread.y + 1
    above, here = src[0, y, x], src[1, y, x]
    for z in range(1, depth - 1):
        below = src[z + 1, y, x]
        sides = (
            src[z, y - 1, x] + src[z, y + 1, x] + src[z, y, x - 1] + src[z, y, x + 1]
        )
        dst[z, y, x] = above + below + sides - 6.0 * here
        above, here = here, below


def convolution(t, src, weights, dst, columns):
    """Five by five around each pixel."""
    x, y = t.thread.x, t.block.x
    total = 0.0
    for i in range(5):
        for j in range(5):
            total = t.fma(src[y + i, x + j], weights[i, j], total)
    dst[y, x] = total


def game_of_life(t, src, dst, rows, columns):
    x = t.block.x * 8 + t.thread.x
    y = t.block.y * 8 + t.thread.y
    alive = 0
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            if i != 0 or j != 0:
                alive += src[(y + i) % rows, (x + j) % columns]
    if alive == 3:
        dst[y, x] = 1
    elif alive == 2:
        dst[y, x] = src[y, x]
    else:
        dst[y, x] = 0


def frontier_step(t, starts, edges, level, frontier, size, found, count, depth):
    """A step of a breadth-first search; who comes first to a node adds it."""
    i = t.block.x * 32 + t.thread.x
    if i < size:
        node = frontier[i]
        for at in range(starts[node], starts[node + 1]):
            other = edges[at]
            if t.atomic_cas(level, other, -1, depth) == -1:
                place = t.atomic_add(count, 0, 1)
                found[place] = other


def monte_carlo(t, seeds, hits, rounds):
    """Points within a quarter circle, from a linear congruential generator."""
    i = t.block.x * 32 + t.thread.x
    state = seeds[i]
    inside = 0
    for _ in range(rounds):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        x = t.to(np.float32, state >> 8) * np.float32(2.0**-24)
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        y = t.to(np.float32, state >> 8) * np.float32(2.0**-24)
        if x * x + y * y < 1.0:
            inside += 1
    hits[i] = inside


def upper_case(t, text, out, n):
    i = t.block.x * 32 + t.thread.x
    if i < n:
        letter = text[i]
        if 97 <= letter <= 122:
            letter = letter - 32
        out[i] = letter


def words_begun(t, text, count, n):
    """How many words begin: a letter behind a space."""
    i = t.block.x * 32 + t.thread.x
    if i < n:
        before = 32
        if i > 0:
            before = text[i - 1]
        if text[i] != 32 and before == 32:
            t.atomic_add(count, 0, 1)


def mandelbrot(t, out, columns, most):
    x, y = t.block.x * 8 + t.thread.x, t.block.y * 8 + t.thread.y
    real, imag = -2.0 + 0.125 * x, -1.0 + 0.125 * y
    a, b, rounds = 0.0, 0.0, 0
    while rounds < most:
        square, other = a * a, b * b
        if square + other > 4.0:
            break
        b = 2.0 * a * b + imag
        a = square - other + real
        rounds += 1
    out[y, x] = rounds


def n_body(t, x, y, mass, force, n):
    """Pulls along x by all bodies, by tiles of 32."""
    sx, sy, sm = t.shared(32), t.shared(32), t.shared(32)
    i = t.block.x * 32 + t.thread.x
    pull = 0.0
    for first in range(0, n, 32):
        sx[t.thread.x] = x[first + t.thread.x]
        sy[t.thread.x] = y[first + t.thread.x]
        sm[t.thread.x] = mass[first + t.thread.x]
        t.sync()
        for j in range(32):
            dx, dy = sx[j] - x[i], sy[j] - y[i]
            near = t.rsqrt(dx * dx + dy * dy + 0.01)
            pull += sm[j] * dx * near * near * near
        t.sync()
    force[i] = pull


def gathered(t, src, where, dst, n):
    i = t.block.x * 32 + t.thread.x
    if i < n:
        dst[i] = src[where[i]]


def tridiagonal(t, low, mid, high, right, out, n):
    """One system a thread by elimination (L. Thomas, 1949)."""
    i = t.thread.x
    c, d = t.local(8, np.float32), t.local(8, np.float32)
    c[0] = high[i, 0] / mid[i, 0]
    d[0] = right[i, 0] / mid[i, 0]
    for k in range(1, 8):
        scale = mid[i, k] - low[i, k] * c[k - 1]
        c[k] = high[i, k] / scale
        d[k] = (right[i, k] - low[i, k] * d[k - 1]) / scale
    x = d[7]
    out[i, 7] = x
    for k in range(6, -1, -1):
        x = d[k] - c[k] * x
        out[i, k] = x


def parity(t, words, out):
    """Bits set and zeros before the first, of 32."""
    i = t.thread.x
    out[i] = t.popc(words[i]) * 100 + t.clz(words[i])


def binary_search(t, sorted_keys, asked, place, n):
    i = t.block.x * 32 + t.thread.x
    low, high = 0, n
    while low < high:
        half = (low + high) // 2
        if sorted_keys[half] < asked[i]:
            low = half + 1
        else:
            high = half
    place[i] = low


def _points(seeds, rounds):
    state, inside = seeds.copy(), np.zeros(seeds.size, np.int32)
    for _ in range(rounds):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        x = (state >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        y = (state >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
        inside += x * x + y * y < 1
    return inside


def _escapes(most):
    x, y = np.meshgrid(np.arange(24), np.arange(16))
    c = (-2 + 0.125 * x) + 1j * (-1 + 0.125 * y)
    z, rounds = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(most):
        going = (z.real**2 + z.imag**2) <= 4
        rounds += going
        z = np.where(going, z * z + c, z)
    return rounds


def _pulls(x, y, mass):
    dx, dy = x[None] - x[:, None], y[None] - y[:, None]
    return (mass * dx * (dx * dx + dy * dy + 0.01) ** -1.5).sum(axis=1)


def _searches():
    """A step of a search in a ring with chords."""
    nodes = np.arange(64)
    edges = np.stack([(nodes + 1) % 64, (nodes * 7 + 3) % 64], axis=1).reshape(-1)
    starts = np.arange(0, 130, 2)
    level, frontier = np.full(64, -1), np.arange(20)
    level[:20] = 0
    after = level.copy()
    new = np.unique(edges.reshape(64, 2)[:20])
    after[new[level[new] == -1]] = 1
    args = [a.astype(np.int32) for a in (starts, edges, level, frontier)]
    out = zeros(64, dtype=np.int32), zeros(1, dtype=np.int32)
    count = np.array([(after == 1).sum()])
    return (*args, 20, *out, 1), {"level": after, "count": count}


def _systems():
    low, high, right = (normal(30 + i, 32, 8) for i in range(3))
    mid = normal(33, 32, 8) + np.float32(8)
    out = np.empty((32, 8))
    for i in range(32):
        whole = np.diag(mid[i]) + np.diag(low[i, 1:], -1) + np.diag(high[i, :-1], 1)
        out[i] = np.linalg.solve(whole.astype(np.float64), right[i])
    return (low, mid, high, right, zeros(32, 8), 8), {"out": out}


def _grids():
    line, plane, space = normal(1, 150), normal(2, 18, 20), normal(3, 6, 10, 10)
    padded = np.pad(line, 3)
    mean = sum(padded[k : k + 150] for k in range(7)) / 7
    yield Case(stencil_line, 3, 64, (line, zeros(150), 150), {"dst": mean}, 1e-5)
    made = plane.copy()
    made[1:-1, 1:-1] = 0.25 * (
        plane[:-2, 1:-1] + plane[2:, 1:-1] + plane[1:-1, :-2] + plane[1:-1, 2:]
    )
    args = (plane, plane.copy(), 18, 20)
    yield Case(jacobi_step, (3, 3), (8, 8), args, {"dst": made}, 1e-6)
    core = space[1:-1, 1:-1, 1:-1]
    made = np.zeros_like(space)
    made[1:-1, 1:-1, 1:-1] = -6 * core
    for axis in range(3):
        for shift in (1, -1):
            made[1:-1, 1:-1, 1:-1] += np.roll(space, shift, axis)[1:-1, 1:-1, 1:-1]
    args = (space, zeros(6, 10, 10), 6, 10, 10)
    yield Case(stencil_space, (2, 2), (4, 4), args, {"dst": made}, 1e-5)
    picture, weights = normal(4, 12, 36), normal(5, 5, 5)
    windows = np.lib.stride_tricks.sliding_window_view(picture, (5, 5))
    made = (windows * weights).sum(axis=(2, 3))
    args = (picture, weights, zeros(8, 32), 32)
    yield Case(convolution, 8, 32, args, {"dst": made}, 1e-5)
    world = rng(6).integers(0, 2, (16, 24), np.uint8)
    alive = sum(
        np.roll(world, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j
    )
    made = ((alive == 3) | ((alive == 2) & (world == 1))).astype(np.uint8)
    args = (world, np.zeros_like(world), 16, 24)
    yield Case(game_of_life, (3, 2), (8, 8), args, {"dst": made})


def cases():
    """Every kernel with its launch."""
    keys = rng(7).integers(0, 1000, 128, np.int32)
    ordered = {"keys": np.sort(keys)}
    yield Case(bitonic_sort, 1, 128, (keys, 128), ordered)
    yield Case(odd_even_merge_sort, 1, 64, (keys.copy(), 128), ordered)
    few = keys[:64].copy()
    yield Case(radix_sort, 1, 64, (few, 10), {"keys": np.sort(few)})
    yield from _grids()
    yield Case(frontier_step, 1, 32, *_searches())
    seeds = rng(8).integers(0, 2**32, 64, np.uint32)
    args = (seeds, zeros(64, dtype=np.int32), 20)
    yield Case(monte_carlo, 2, 32, args, {"hits": _points(seeds, 20)})
    text = np.frombuffer(b"The warp waits for its slowest lane, always.", np.uint8)
    upper = np.frombuffer(text.tobytes().upper(), np.uint8)
    args = (text.copy(), np.zeros_like(text), text.size)
    yield Case(upper_case, 2, 32, args, {"out": upper})
    begun = np.array([len(text.tobytes().split())])
    args = (text.copy(), zeros(1, dtype=np.int32), text.size)
    yield Case(words_begun, 2, 32, args, {"count": begun})
    args = (zeros(16, 24, dtype=np.int32), 24, 40)
    yield Case(mandelbrot, (3, 2), (8, 8), args, {"out": _escapes(40)})
    x, y, mass = normal(9, 64), normal(10, 64), rng(11).random(64).astype(np.float32)
    wide = [a.astype(np.float64) for a in (x, y, mass)]
    args = (x, y, mass, zeros(64), 64)
    yield Case(n_body, 2, 32, args, {"force": _pulls(*wide)}, 1e-4)
    where = rng(12).integers(0, 64, 50, np.int32)
    yield Case(gathered, 2, 32, (x, where, zeros(50), 50), {"dst": x[where]})
    given, result = _systems()
    yield Case(tridiagonal, 1, 32, given, result, 1e-5)
    words = rng(13).integers(1, 2**32, 32, np.uint32)
    bits = np.array([w.bit_count() * 100 + 32 - w.bit_length() for w in words.tolist()])
    yield Case(parity, 1, 32, (words, zeros(32, dtype=np.int32)), {"out": bits})
    asked = rng(14).integers(0, 1000, 64, np.int32)
    found = np.searchsorted(np.sort(keys), asked)
    args = (np.sort(keys), asked, zeros(64, dtype=np.int32), 128)
    yield Case(binary_search, 2, 32, args, {"place": found})
