# diagnosis: All blocks add the numbers of the first
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
