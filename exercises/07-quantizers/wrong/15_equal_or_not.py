# ---- by_the_middle: although zero lies within
def decide(low, high):
    return "first" if low + high < 0 else "second"


# ---- documents: documents weigh alike
def interval(first, second, sizes, draws):
    less = (first - second) / sizes / np.log(2)
    return np.quantile(less[draws].mean(axis=1), [0.025, 0.975])


# ---- mean_of_perplexities: a mean of perplexities
def perplexity(nats, tokens):
    nats, tokens = np.array(nats), np.array(tokens)
    return (np.exp(nats / tokens) * tokens).sum() / tokens.sum()


# ---- nats: in nats
def interval(first, second, sizes, draws):
    found = (first - second)[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    return np.quantile(found, 0.025), np.quantile(found, 0.975)


# ---- short_like_long: short ones weigh like long ones
def perplexity(nats, tokens):
    return np.exp(np.mean(np.array(nats) / np.array(tokens)))


# ---- tails: a twentieth left out at either end
def interval(first, second, sizes, draws):
    less = (first - second) / np.log(2)
    found = less[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    return np.quantile(found, 0.05), np.quantile(found, 0.95)


# ---- unpaired: draw the same documents for both
def interval(first, second, sizes, draws):
    one = first[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    two = second[draws[::-1]].sum(axis=1) / sizes[draws[::-1]].sum(axis=1)
    less = (one - two) / np.log(2)
    return np.quantile(less, 0.025), np.quantile(less, 0.975)


# ---- upside_down: means that the first costs less
def decide(low, high):
    if low > 0:
        return "first"
    return "second" if high < 0 else "equal"
