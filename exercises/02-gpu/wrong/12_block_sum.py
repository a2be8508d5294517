# ---- barrier_inside: A barrier inside an if
def block_sum(t, src, out):
    i = t.thread.x
    s = t.shared(256)
    s[i] = src[t.block.x * t.block_dim.x + i]
    t.sync()
    k = 128
    while k > 0:
        if i < k:
            s[i] += s[i + k]
            t.sync()
        k = k // 2
    if i == 0:
        out[t.block.x] = s[0]


# ---- every_other: When every other thread rests, its warp does not.
def block_sum(t, src, out):
    i = t.thread.x
    s = t.shared(256)
    s[i] = src[t.block.x * t.block_dim.x + i]
    t.sync()
    k = 1
    while k < 256:
        if i % (2 * k) == 0:
            s[i] += s[i + k]
        t.sync()
        k = 2 * k
    if i == 0:
        out[t.block.x] = s[0]


# ---- first_block: All blocks add the numbers of the first
def block_sum(t, src, out):
    i = t.thread.x
    s = t.shared(256)
    s[i] = src[i]
    t.sync()
    k = 128
    while k > 0:
        if i < k:
            s[i] += s[i + k]
        t.sync()
        k = k // 2
    if i == 0:
        out[t.block.x] = s[0]


# ---- race: nothing says who comes first
def block_sum(t, src, out):
    i = t.thread.x
    s = t.shared(256)
    s[i] = src[t.block.x * t.block_dim.x + i]
    t.sync()
    k = 128
    while k > 0:
        if i < k:
            s[i] += s[i + k]
        k = k // 2
    if i == 0:
        out[t.block.x] = s[0]


# ---- stride_doubling: bank conflicts:
def block_sum(t, src, out):
    i = t.thread.x
    s = t.shared(256)
    s[i] = src[t.block.x * t.block_dim.x + i]
    t.sync()
    k = 1
    while k < 256:
        at = 2 * k * i
        if at < 256:
            s[at] += s[at + k]
        t.sync()
        k = 2 * k
    if i == 0:
        out[t.block.x] = s[0]


# ---- lone: Its lanes wait while one of them adds.
def block_sum(t, src, out):
    if t.thread.x == 0:
        total = 0.0
        for j in range(256):
            total = total + src[t.block.x * 256 + j]
        out[t.block.x] = total
