# ---- steps: each figure in steps
def joules(row):
    known = row["ms"] is not None and row["watts"] is not None
    return row["watts"] * (row["ms"] / 1000) if known else None


def per_million(row):
    if None in (row["ms"], row["usd_per_h"]):
        return None
    tokens_per_h = 3600 / (row["ms"] / 1000)
    return row["usd_per_h"] / tokens_per_h * 1e6


# ---- stable: two sorts, the last of which keeps order
def table(rows, by):
    if by not in ("ms", "joules", "dollars"):
        raise ValueError(by)
    figures = {"ms": lambda row: row["ms"], "joules": joules, "dollars": per_million}
    by_source = sorted(rows, key=lambda row: SURE.index(row["whose"]))
    known = [(figures[by](row), row["name"]) for row in by_source]
    kept = [pair for pair in known if pair[0] is not None]
    return [name for _, name in sorted(kept, key=lambda pair: pair[0])]
