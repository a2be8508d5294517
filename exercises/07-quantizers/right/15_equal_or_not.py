# ---- counted: how often each document was drawn
def perplexity(nats, tokens):
    nats, tokens = np.array(nats), np.array(tokens)
    return np.exp(np.average(nats / tokens, weights=tokens))


def interval(first, second, sizes, draws):
    often = np.stack([np.bincount(row, minlength=len(sizes)) for row in draws])
    bits = often @ (first - second) / (often @ sizes) / np.log(2)
    low, high = np.percentile(bits, [2.5, 97.5])
    return float(low), float(high)


def decide(low, high):
    return {(1, 1): "second", (0, 0): "first"}.get((low > 0, high >= 0), "equal")


# ---- apart: each scheme's own text, over the same draws
def perplexity(nats, tokens):
    return 2 ** (np.log2(np.e) * np.sum(nats) / np.sum(tokens))


def interval(first, second, sizes, draws):
    def bits(nats):
        return np.array([nats[row].sum() / sizes[row].sum() for row in draws])

    return np.quantile(np.log2(np.e) * (bits(first) - bits(second)), [0.025, 0.975])


def decide(low, high):
    if low <= 0 <= high:
        return "equal"
    return "first" if low < 0 else "second"
