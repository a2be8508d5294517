# ---- stack: no recursion, a list of what is still open
def ends(tree):
    low = high = 1.0
    still = [tree]
    while still:
        node = still.pop()
        if isinstance(node, dict):
            still += node.values()
            continue
        if node[0] <= 0 or node[0] > node[1]:
            raise ValueError(node)
        low, high = low * node[0], high * node[1]
    return low, high


# ---- logs: and causes as a mapping
def least(tree):
    if isinstance(tree, dict):
        return math.exp(sum(math.log(least(factor)) for factor in tree.values()))
    return ends(tree)[0]


def shared(causes):
    behind = {}
    for name, of in causes.items():
        for cause in of:
            behind.setdefault(cause, set()).add(name)
    return sum(len(names) > 1 for names in behind.values())
