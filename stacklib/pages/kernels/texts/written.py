"""The kernels, word for word as the pages have them.

Each takes its programs over all of its rows, tiles or tokens, however many programs
there are, and keeps to the names that Triton has.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls
# mypy: disable-error-code="operator, arg-type, index, call-overload"
# (a kernel's parameters are pointers and numbers of the device)

from stacklib.gpu import interpreter as tl


def norm(x, weight, out, rows, columns, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    scale = tl.load(weight + at, mask=inside, other=0.0)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        values = tl.load(x + row * columns + at, mask=inside, other=0.0)
        mean = tl.sum(values, axis=0) / columns
        apart = tl.where(inside, values - mean, 0.0)
        variance = tl.sum(apart * apart, axis=0) / columns
        normed = apart * tl.rsqrt(variance + eps) * scale
        tl.store(out + row * columns + at, normed, mask=inside)


def product(a, b, c, M, N, K, SIDE: tl.constexpr, STEP: tl.constexpr):
    row = (tl.program_id(0) * SIDE + tl.arange(0, SIDE))[:, None]
    column = (tl.program_id(1) * SIDE + tl.arange(0, SIDE))[None, :]
    sums = tl.zeros([SIDE, SIDE], tl.float32)
    for start in range(0, K, STEP):
        deep = start + tl.arange(0, STEP)
        along, down = deep[None, :], deep[:, None]
        a_in, b_in = (row < M) & (along < K), (down < K) & (column < N)
        a_tile = tl.load(a + row * K + along, mask=a_in, other=0.0)
        b_tile = tl.load(b + down * N + column, mask=b_in, other=0.0)
        sums = tl.dot(a_tile, b_tile, sums)
    tl.store(c + row * N + column, sums, mask=(row < M) & (column < N))


def attend(q, k, v, out, S, D: tl.constexpr, TILE: tl.constexpr):
    deep = tl.arange(0, D)[None, :]
    for top in range(tl.program_id(0) * TILE, S, tl.num_programs(0) * TILE):
        row = (top + tl.arange(0, TILE))[:, None]
        query = tl.load(q + row * D + deep, mask=row < S, other=0.0) * D**-0.5
        most = tl.full([TILE, 1], float("-inf"), tl.float32)
        total = tl.zeros([TILE, 1], tl.float32)
        sums = tl.zeros([TILE, D], tl.float32)
        for left in range(0, top + TILE, TILE):  # causal: later tiles are skipped
            key = (left + tl.arange(0, TILE))[:, None]
            keys = tl.load(k + key * D + deep, mask=key < S, other=0.0)
            values = tl.load(v + key * D + deep, mask=key < S, other=0.0)
            scores = tl.dot(query, tl.trans(keys))  # TILE by TILE, never stored
            scores = tl.where(tl.trans(key) <= row, scores, float("-inf"))
            new = tl.maximum(most, tl.max(scores, axis=1)[:, None])
            shrink, weights = tl.exp(most - new), tl.exp(scores - new)
            total = total * shrink + tl.sum(weights, axis=1)[:, None]
            sums = tl.dot(weights, values, sums * shrink)
            most = new
        tl.store(out + row * D + deep, sums / total, mask=row < S)


def piece(q, k, v, most, total, part, S, D: tl.constexpr, TILE: tl.constexpr):
    at, deep = tl.program_id(0), tl.arange(0, D)[None, :]
    key = (at * TILE + tl.arange(0, TILE))[:, None]
    keys = tl.load(k + key * D + deep, mask=key < S, other=0.0)
    values = tl.load(v + key * D + deep, mask=key < S, other=0.0)
    scores = tl.sum(tl.load(q + deep) * D**-0.5 * keys, axis=1)[:, None]
    scores = tl.where(key < S, scores, float("-inf"))
    top = tl.max(scores, axis=0)
    weights = tl.exp(scores - top)
    whole = tl.sum(weights, axis=0)
    tl.store(most + at + tl.arange(0, 1), top)
    tl.store(total + at + tl.arange(0, 1), whole)
    tl.store(part + at * D + tl.arange(0, D), tl.sum(weights * values, 0) / whole)


def merge(most, total, part, out, pieces, D: tl.constexpr, MOST: tl.constexpr):
    at, deep = tl.arange(0, MOST)[:, None], tl.arange(0, D)
    top = tl.load(most + at, mask=at < pieces, other=float("-inf"))
    share = tl.load(total + at, mask=at < pieces, other=0.0)
    share = share * tl.exp(top - tl.max(top, axis=0))
    parts = tl.load(part + at * D + deep[None, :], mask=at < pieces, other=0.0)
    tl.store(out + deep, tl.sum(share * parts, axis=0) / tl.sum(share, axis=0))


def scaled(a, a_scale, b, b_scale, c, N, K, SIDE: tl.constexpr, GROUP: tl.constexpr):
    row = tl.program_id(0) * SIDE + tl.arange(0, SIDE)
    column = tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    sums = tl.zeros([SIDE, SIDE], tl.float32)
    for group in range(K // GROUP):
        deep = group * GROUP + tl.arange(0, GROUP)
        a_tile = tl.load(a + row[:, None] * K + deep[None, :])  # FP8 codes
        b_tile = tl.load(b + column[None, :] * K + deep[:, None])
        part = tl.dot(a_tile, b_tile)  # here it leaves the tensor core
        a_factor = tl.load(a_scale + row * (K // GROUP) + group)
        b_factor = tl.load(b_scale + column // GROUP * (K // GROUP) + group)
        sums = sums + part * a_factor[:, None] * b_factor[None, :]
    tl.store(c + row[:, None] * N + column[None, :], sums)


def score(hidden, head, best, token, V, seed, D: tl.constexpr, TILE: tl.constexpr):
    deep = tl.arange(0, D)[None, :]
    state = tl.load(hidden + deep)
    for tile in range(tl.program_id(0), tl.cdiv(V, TILE), tl.num_programs(0)):
        at = tile * TILE + tl.arange(0, TILE)
        row = at[:, None]
        weights = tl.load(head + row * D + deep, mask=row < V, other=0.0)
        logits = tl.sum(state * weights, axis=1)  # never stored
        noise = -tl.log(-tl.log(tl.maximum(tl.rand(seed, at), 1e-10)))
        scores = tl.where(at < V, logits + noise, float("-inf"))
        tl.store(best + tile, tl.max(scores, axis=0))
        tl.store(token + tile, tile * TILE + tl.argmax(scores, axis=0))


def pick(best, token, out, tiles, MOST: tl.constexpr):
    at = tl.arange(0, MOST)
    scores = tl.load(best + at, mask=at < tiles, other=float("-inf"))
    tl.store(out, tl.load(token + tl.argmax(scores, axis=0)))
