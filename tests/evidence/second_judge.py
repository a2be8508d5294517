"""Forty numbers and twenty propositions, judged again without any of our models.

The records stand in ``second_judge.toml``. Run alone, this file works each of them out
and prints it: ``python tests/evidence/second_judge.py``.
"""

import csv
import hashlib
import math
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
RECORDS = HERE / "second_judge.toml"
CLAIMS = HERE.parents[1] / "stacklib" / "evidence" / "data" / "claims.csv"
NUMBERS, PROPOSITIONS = 40, 20
CHAPTERS = {"1", "2", "3", "4", "6", "7"}  # those that are written
# Units of claims that answer yes or no, or name something.
NOT_NUMBERS = {
    "bool",
    "boolean",
    "bool (fits)",
    "nm (name)",
    "compute capability",
    "code",
    "version",
    "generation",
    "basis",
}
# What the arithmetic of a record may call.
CALLS = {
    **{name: getattr(math, name) for name in ("log2", "log10", "floor", "pi")},
    **{f.__name__: f for f in (max, min, range, round, sum, zip)},
    "__builtins__": {},
}


def read() -> dict:
    """All records."""
    return tomllib.loads(RECORDS.read_text(encoding="utf-8"))


def claims() -> list[dict[str, str]]:
    """The ledger's rows of the written chapters."""
    with CLAIMS.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["chapter"] in CHAPTERS]


def drawn(seed: str, numbers: bool) -> list[str]:
    """Ids in the order that the seed gives, so that a new claim moves no other."""
    ids = [r["id"] for r in claims() if (r["unit"] not in NOT_NUMBERS) == numbers]
    return sorted(ids, key=lambda id: hashlib.sha256(f"{seed} {id}".encode()).digest())


def pairs(a: object, b: object) -> list[tuple]:
    """Numbers said beside numbers found; a single one is a list of one."""
    said, found = (x if isinstance(x, list) else [x] for x in (a, b))
    return list(zip(said, found, strict=True))


def worked(record: dict) -> object:
    """What the record's arithmetic gives."""
    return eval(record["sum"], {**CALLS, **record["facts"]})


def word(kind: str, claimed: object, found: object) -> str:
    """The verdict by the rule of its kind."""
    if kind == "proposition":
        return "true" if eval(f"{found} {claimed}", {"__builtins__": {}}) else "false"
    both = pairs(claimed, found)
    if kind == "count":
        return "reproduced" if all(a == b for a, b in both) else "wrong"
    if kind == "law":
        return "reproduced" if all(abs(a - b) <= 0.1 for a, b in both) else "wrong"
    if kind == "share":  # on the side that is rarer
        both = [(100 - a, 100 - b) if a > 50 else (a, b) for a, b in both]
    off = max(max(a / b, b / a) for a, b in both)
    if kind == "source":
        return "agrees with its source" if off < 1.01 else "wrong"
    return "reproduced" if off <= 1.1 else "close" if off <= 1.5 + 1e-9 else "wrong"


def main() -> int:
    """Print every record; 1 where one does not give what it says."""
    records, failed = read(), 0
    for id, record in records["number"].items():
        said, found = record["judged"], worked(record)
        by_rule = word(said["kind"], said["claimed"], said["found"])
        near = all(math.isclose(*p, rel_tol=2e-3) for p in pairs(said["found"], found))
        failed |= not near or by_rule != said["word"]
        print(f"{id}: {record['says']}\n    {record['sum']} = {found} {said['unit']}")
        print(f"    {said['claimed']} is {by_rule}. {record['source']}")
    for id, record in (records["none"] | records["proposition"]).items():
        print(f"{id}: {record['says']}\n    {record['word']}. {record['why']}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
