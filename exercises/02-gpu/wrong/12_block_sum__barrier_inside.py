# diagnosis: A barrier inside an if
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
