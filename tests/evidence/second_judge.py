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
# Found over claimed.
PRINTED, REPRODUCED, CLOSE = (0.99, 1.01), (0.9, 1.1), (1 / 1.5, 1.5)
# What the arithmetic of a record may call.
CALLS = {
    **{name: getattr(math, name) for name in ("log2", "log10", "pi")},
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
    other = set(read()["yes_or_no"])
    ids = [row["id"] for row in claims() if (row["id"] not in other) == numbers]
    return sorted(ids, key=lambda id: hashlib.sha256(f"{seed} {id}".encode()).digest())


def listed(x: object) -> list:
    """A single number is a list of one."""
    return x if isinstance(x, list) else [x]


def pairs(a: object, b: object) -> list[tuple]:
    """Numbers said beside numbers found."""
    return list(zip(listed(a), listed(b), strict=True))


def worked(record: dict) -> object:
    """What the record's arithmetic gives."""
    return eval(record["sum"], {**CALLS, **record["facts"]})


def word(kind: str, claimed: object, found: object) -> str:
    """The verdict by the rule of its kind."""
    if kind == "proposition":  # each of its readings meets what is claimed, or not
        met = {eval(f"{a} {claimed}", {"__builtins__": {}}) for a in listed(found)}
        return "depends" if len(met) == 2 else str(met.pop()).lower()
    both = pairs(claimed, found)
    if kind == "count":
        return "reproduced" if all(a == b for a, b in both) else "wrong"
    if kind == "law":
        return (
            "reproduced" if all(abs(a - b) <= 0.1 + 1e-9 for a, b in both) else "wrong"
        )
    if kind == "share":  # on the side that is rarer
        both = [(100 - a, 100 - b) if a > 50 else (a, b) for a, b in both]
    if kind == "source":
        return "agrees with its source" if near(both, PRINTED) else "wrong"
    return "reproduced" if near(both) else "close" if near(both, CLOSE) else "wrong"


def near(both: list[tuple], band: tuple[float, float] = REPRODUCED) -> bool:
    """Whether found over claimed lies in the band at every end."""
    low, high = band
    return all(low - 1e-9 <= b / a <= high + 1e-9 for a, b in both)


def holds(record: dict) -> bool:
    """Whether the arithmetic gives what the record found, and its rule the word."""
    said = record["judged"]
    ends = pairs(said["found"], worked(record))
    same = all(math.isclose(a, b, rel_tol=2e-3, abs_tol=1e-9) for a, b in ends)
    return same and said["word"] == word(said["kind"], said["claimed"], said["found"])


def main() -> int:
    """Print every record; 1 where one does not give what it says."""
    records, failed = read(), 0
    for id, record in records["number"].items():
        said, found = record["judged"], worked(record)
        failed |= not holds(record)
        print(f"{id}: {record['says']}\n    {record['sum']} = {found} {said['unit']}")
        print(f"    {said['claimed']} is {said['word']}. {record['source']}")
    for id, record in records["proposition"].items():
        print(f"{id}: {record['says']}\n    {record['word']}. {record['why']}")
    for id, record in records["none"].items():
        print(f"{id}: {record['says']}\n    no number. {record['why']}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
