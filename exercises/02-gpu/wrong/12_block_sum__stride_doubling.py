# diagnosis: bank conflicts:
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
