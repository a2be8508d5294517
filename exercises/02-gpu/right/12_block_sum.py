# ---- shuffles: within warps by shuffles, then eight sums
def block_sum(t, src, out):
    s = t.shared(8)
    total = src[t.block.x * t.block_dim.x + t.thread.x]
    for k in (16, 8, 4, 2, 1):
        total = total + t.shuffle_down(total, k)
    if t.lane == 0:
        s[t.warp] = total
    t.sync()
    if t.thread.x == 0:
        total = 0.0
        for warp in range(8):
            total = total + s[warp]
        out[t.block.x] = total


# ---- one_warp: each lane of a warp adds eight, then a butterfly
def block_sum(t, src, out):
    i = t.thread.x
    if i < 32:
        total = 0.0
        for j in range(8):
            total = total + src[t.block.x * 256 + i + 32 * j]
        for k in (1, 2, 4, 8, 16):
            total = total + t.shuffle_xor(total, k)
        if i == 0:
            out[t.block.x] = total


# ---- counted_down: the tree with its barrier before each step
def block_sum(t, src, out):
    i = t.thread.x
    s = t.shared(256)
    s[i] = src[t.block.x * t.block_dim.x + i]
    for k in (128, 64, 32, 16, 8, 4, 2, 1):
        t.sync()
        if i < k:
            s[i] = s[i] + s[i + k]
    t.sync()
    if i == 0:
        out[t.block.x] = s[0]
