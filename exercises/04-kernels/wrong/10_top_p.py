# ---- absolute: not a share of all
def min_p(p, share):
    return [i for i, own in enumerate(p) if own >= share]


# ---- by_own_share: top-p goes by the sum
def top_p(p, share):
    return [i for i, own in enumerate(p) if own >= share]


# ---- not_divided: What is cut has to be handed to the rest.
def chain(p, share_p, share_m):
    inside = set(top_p(p, share_p)) & set(min_p(p, share_m))
    return [own if i in inside else 0.0 for i, own in enumerate(p)]


# ---- one_too_few: Compare what was taken before it.
def top_p(p, share):
    kept, total = [], 0.0
    for i in sorted(range(len(p)), key=lambda i: (-p[i], i)):
        total += p[i]
        if total > share:
            break
        kept.append(i)
    return sorted(kept)


# ---- one_too_many: one token too many
def top_p(p, share):
    kept, before = [], 0.0
    for i in sorted(range(len(p)), key=lambda i: (-p[i], i)):
        if before > share:
            break
        kept.append(i)
        before += p[i]
    return sorted(kept)


# ---- unsorted: not in the order of the vocabulary
def top_p(p, share):
    kept, before = [], 0.0
    for i, own in enumerate(p):
        if before >= share:
            break
        kept.append(i)
        before += own
    return kept
