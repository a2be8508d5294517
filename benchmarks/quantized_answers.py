"""Every answer and every document's cost of some schemes, one by one.

    python benchmarks/quantized_answers.py             # -> low_precision/answers.json
    python benchmarks/quantized_answers.py groupings   # -> low_precision/groupings.json

`schemes.json` keeps sums. Whether two schemes differ has to be asked document by
document and question by question, so this keeps those of a few; five minutes. The
second asks the pairs of two schemes with their columns dealt into other groups, twenty
times: what is found by one grouping may be that grouping's; three minutes.
"""

import datetime
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from quantized_model import answered, held_out  # noqa: E402

from stacklib.sweep import progress  # noqa: E402
from stacklib.tinylm import load  # noqa: E402
from stacklib.tinylm.corpus import digest, evaluation_text  # noqa: E402
from stacklib.tinylm.model import TinyLM  # noqa: E402
from stacklib.tinylm.perplexity import score  # noqa: E402
from stacklib.tinylm.probe import cloze_items, pairs, sentence_cost  # noqa: E402
from stacklib.tinylm.quantized import STORE, quantized, regrouped  # noqa: E402

KEPT = STORE.with_name("answers.json")
GROUPINGS, DRAWS = STORE.with_name("groupings.json"), 20
REGROUPED = ("int4_g128_asym", "int4_g128")
SCHEMES = (
    "int8_channel",
    "q4_k",
    "q4_0",
    "nf4",
    "nvfp4",
    "int4_g128_asym",
    "int4_g128",
    "mxfp4",
    "q3_k",
    "q2_k",
)


def bits(right: list[bool]) -> str:
    """Right and wrong as ones and zeros."""
    return "".join("01"[each] for each in right)


def pairs_right(model: TinyLM) -> str:
    """Every minimal pair, right or wrong."""
    costs = (
        (sentence_cost(model, p.good), sentence_cost(model, p.bad)) for p in pairs()
    )
    return bits([good < bad for good, bad in costs])


def groupings() -> None:
    """Measure the draws and write their file."""
    tiny = load()
    draws = [(name, seed) for seed in range(1, DRAWS + 1) for name in REGROUPED]
    rows = [
        {
            "scheme": name,
            "seed": seed,
            "pairs": pairs_right(regrouped(tiny, name, seed)),
        }
        for name, seed in progress(draws, len(draws), "groupings")
    ]
    write(GROUPINGS, {"date": datetime.date.today().isoformat()}, rows)


def write(path: Path, found: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """A row a line."""
    lines = [json.dumps(row) for row in rows]
    head = json.dumps(found)[:-1]
    path.write_text(f'{head}, "rows": [\n ' + ",\n ".join(lines) + "\n]}\n", "utf-8")


def main() -> int:
    """Measure and write the file."""
    if sys.argv[1:] == ["groupings"]:
        groupings()
        return 0
    tiny, held = load(), held_out()
    items = list(cloze_items(evaluation_text(), tiny))
    rows: list[dict[str, Any]] = []
    for name in progress(("bf16", *SCHEMES), 1 + len(SCHEMES), "schemes"):
        model = tiny if name == "bf16" else quantized(tiny, name).model
        costs = score(model, held, tiny.tokenizer)
        right, cloze = answered(model, items)
        margins = [
            sentence_cost(model, p.bad) - sentence_cost(model, p.good) for p in pairs()
        ]
        rows.append(
            {
                "scheme": name,
                "nats": [round(each.nats, 3) for each in costs],
                "pairs": bits(right),
                "cloze": bits(cloze),
                "margins": [round(each, 3) for each in margins],
            }
        )
    first = score(tiny, held, tiny.tokenizer)
    found = {
        "date": datetime.date.today().isoformat(),
        "text": digest(held),
        "bytes": [each.bytes for each in first],
        "tokens": [each.tokens for each in first],
    }
    write(KEPT, found, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
