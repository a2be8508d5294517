"""Every answer and every document's cost of some schemes, one by one.

    python benchmarks/quantized_answers.py   # -> low_precision/answers.json

`schemes.json` keeps sums. Whether two schemes differ has to be asked document by
document and question by question, so this keeps those of a few; five minutes.
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
from stacklib.tinylm.perplexity import score  # noqa: E402
from stacklib.tinylm.probe import cloze_items, pairs, sentence_cost  # noqa: E402
from stacklib.tinylm.quantized import STORE, quantized  # noqa: E402

KEPT = STORE.with_name("answers.json")
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


def main() -> int:
    """Measure and write the file."""
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
        "rows": rows,
    }
    lines = [json.dumps(row) for row in found.pop("rows")]
    head = json.dumps(found)[:-1]
    KEPT.write_text(f'{head}, "rows": [\n ' + ",\n ".join(lines) + "\n]}\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
