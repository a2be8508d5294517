"""The checks of all pages: gathered, run one by one, and held to a record.

``python tests/pages/test_claims.py`` writes the record anew; read what changed.
"""

import ast
import csv
import importlib
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from stacklib import hardware, pages
from stacklib.evidence import VERDICTS, Judgement, claims, leaf_faults, ledger, moved
from stacklib.evidence.checks import carried
from stacklib.evidence.kinds import KINDS, off_by_two
from stacklib.quantity import Quantity

RECORD = Path(__file__).parent / "judged.csv"


def recorded(rows: list[Judgement]) -> str:
    """A line a row: what is claimed, and what we made of it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("id", "claimed", "unit", "computed", "verdict"))
    for row in rows:
        claim = row.claim
        said = (claim.id, f"{claim.value:.12g}", claim.unit)
        writer.writerow((*said, row.computed_text, row.verdict))
    return out.getvalue()


def differences(rows: list[Judgement]) -> list[str]:
    """Lines of the record that are no longer so, and what they are now."""
    before, now = RECORD.read_text("utf-8").splitlines(), recorded(rows).splitlines()
    gone = [f"- {line}" for line in before if line not in set(now)]
    return gone + [f"+ {line}" for line in now if line not in set(before)]


def test_every_claim_is_what_it_was_and_judged_as_it_was():
    found = differences(pages.claims())
    assert found == [], "\n".join(found)


def test_a_claim_changed_in_the_ledger_is_named(monkeypatch, tmp_path):
    """Whether or not its verdict changes."""
    path = tmp_path / "claims.csv"
    text = (ledger.DATA / "claims.csv").read_text("utf-8")
    path.write_text(text.replace("about 295 FLOP/B,295,", "about 295 FLOP/B,296,"))
    changed = ledger.read(path)
    rows = importlib.import_module("stacklib.evidence.rows")
    monkeypatch.setattr(rows, "load", lambda: changed)
    assert differences(pages.claims()) == [
        "- h100-ridge-295,295,FLOP/B,295.3 FLOP/B,reproduced",
        "+ h100-ridge-295,296,FLOP/B,295.3 FLOP/B,reproduced",
    ]


def test_a_check_made_to_fit_its_claim_is_named():
    fitted = [
        replace(row, computed=row.claim.quantity() * 1, ratio=1.0, verdict="reproduced")
        if row.claim.id == "h200-ridge"
        else row
        for row in pages.claims()
    ]
    assert differences(fitted) == [
        "- h200-ridge,148,FLOP/B,206.1 FLOP/B,close",
        "+ h200-ridge,148,FLOP/B,148 FLOP/B,reproduced",
    ]
    (row,) = (row for row in fitted if row.claim.id == "h200-ridge")
    (fault,) = leaf_faults(row)
    assert fault.startswith("h200-ridge: leaf h200-ridge is claimed, not one of ")


def test_every_judgement_of_the_book_stands_on_sound_leaves():
    assert [fault for row in pages.claims() for fault in leaf_faults(row)] == []
    assert len(pages.checks()) >= 253
    assert [id for id in ledger.sources() if id in pages.checks()] == []  # never read


def test_a_proposition_of_a_written_chapter_has_its_truth():
    rows = [row for row in pages.claims() if row.claim.id in pages.checks()]
    words = {row.verdict for row in rows if not row.claim.is_number}
    assert words == {"true", "false", "depends", "open"}
    on = [row.why for row in rows if row.verdict == "depends"]
    assert on and [why for why in on if not why.startswith("It holds if ")] == []


def test_no_range_of_ours_is_made_by_a_choice_of_ours():
    """A batch or a prompt that the text does not print may not make a word."""
    made = []
    for row in pages.claims():
        if row.to and row.computed and row.verdict != "open":
            ends = (end.leaves() for end in (row.computed, row.to))
            low, high = ({x.value for x in end if x.kind == "chosen"} for end in ends)
            if any(f"{value:g}" not in row.claim.text for value in low ^ high):
                made.append(row.claim.id)
    assert made == []


BOUND = re.compile(
    r"(?i)\b(?:over|above|below|more than|less than) (?:half|[\d,.]+)"
    r"|\d\+|\d\S* \S+ (?:and|or) more\b|\d\S* or more\b|\b(?:tens|hundreds) of"
)


def test_no_bound_is_excused_by_a_ratio():
    near = [*pages.claims(verdict="close"), *pages.claims(verdict="reproduced")]
    less = [r.claim for r in near if r.verdict == "close" or (r.ratio or 1) < 0.999]
    assert [one.id for one in less if BOUND.search(one.text)] == []
    told = "3,400 mm² and more; 384 GB or more; is below 100 ns; 20+ GB; tens of GB"
    assert all(map(BOUND.search, told.split(";")))


# What a device is called in a sentence, and how keys of its fields begin.
CALLED = {
    r"V100|Volta": "v100",
    r"A100": "a100",
    r"H100": "h100",
    r"H200": "h200",
    r"H800": "h800",
    r"B200": "b200 gb200",
    r"Blackwell": "b200 gb200 b300 gb300",
    r"Rubin": "rubin",
    r"NVL72|72[- ]GPUs?": "gb200",
    r"L40S": "l40s",
    r"4090": "rtx_4090",
    r"5090": "rtx_5090",
    r"MI300X": "mi300x",
    r"MI325X": "mi325x",
    r"WSE-3": "wse3",
    r"Groq": "groq",
    r"Ironwood|TPU v7": "tpu_v7",
    r"v5p": "tpu_v5p",
    r"v6e": "tpu_v6e",
    r"Hopper": "h100 h200 h800 h20",
    r"Trainium2": "trainium2",
    r"Trainium3": "trainium3",
    r"M4 Max": "m4_max",
}
DEVICES = set(hardware.names())


def called(text: str) -> tuple[str, ...]:
    keys = [CALLED[name] for name in CALLED if re.search(f"(?i){name}", text)]
    return tuple(" ".join(keys).split())


def foreign(text: str, tree: Quantity, id: str = "") -> set[str]:
    """Devices under a value of which its claim, that names some, says nothing."""
    keys = {leaf.key.partition(".")[0].replace("-", "_") for leaf in tree.leaves()}
    named = called(text) and called(f"{text} {id}")
    return {key for key in keys & DEVICES if named and not key.startswith(named)}


def test_a_claim_on_a_device_stands_on_that_device():
    rows = [(row.claim, end) for row in pages.claims() for end in row.ends]
    found = [(one.id, foreign(one.text, end, one.id)) for one, end in rows]
    host = {"token-cost-total": {"h100_sxm"}}  # what a DGX draws beside its cards
    assert {id: keys for id, keys in found if keys} == host
    h100 = hardware.get("h100-sxm").memory_bandwidth
    assert foreign("H200 at 4.8 TB/s", h100 * 1) == {"h100_sxm"}
    assert foreign("H200 over H100", h100 * 1) == foreign("Any", h100 * 1) == set()


# Each was *open*, *cited* or had a ratio, and is refuted in its own reason.
REFUTED = """
wgmma-on-blackwell awq-higher-precision nvfp4-normal-float fp4-software-first
nvlink6-larger-domain ptx-tma-load-name ici-name h100-process dataflow-silicon-3nm
pxn-less-volume tpu-pod-memory-shared
""".split()


@pytest.mark.rows("id", REFUTED)
def test_what_its_reason_refutes_is_false(id):
    assert pages.judge(id).verdict == "false"


# One slip, one word: each of these is off by two.
BY_TWO = {
    "other convention": "ib-ndr-800 tp-allreduce-rate a100-624 table-a100-vs-h100 "
    "rack-18x-004 nvlink-bridge-unifies",
    "wrong": "h100-fp8-peak b200-fp4-peak h100-1pflop-fp8 l40s-362-sparse "
    "cowos-s-pitch cpo-port-density",
    "right if": "dram-refresh-64ms nvswitch-chip-ports",
    "conflict": "nvlink-copper-reach",
}


@pytest.mark.rows("word", list(BY_TWO))
def test_a_factor_of_two_has_the_word_of_its_cause(word):
    assert {pages.judge(id).verdict for id in BY_TWO[word].split()} == {word}


def test_nothing_off_by_two_within_its_rule_is_close():
    off = [row for row in pages.claims() if off_by_two(row.ratio)]
    assert {row.verdict for row in off} <= {*BY_TWO, "open"} and len(off) > 20


def test_a_moved_word_says_by_which_rule():
    found = moved.moved(pages.claims())
    assert len(found) == len(moved.former()) > 150
    whys = {one.judgement.claim.id: (one.before, one.why) for one in found}
    assert whys["tensor-idle-97"] == ("reproduced", f"share: {KINDS['share'].rule}")
    assert whys["ici-name"][1].startswith("a proposition that does not")
    counted = moved.words(pages.claims())
    assert counted.total() == len(pages.claims())
    assert counted[1, "quantity", "close"] > 0


def test_only_what_names_a_source_is_cited():
    cited = {row.claim.id for row in pages.claims(verdict="cited")}
    said = {id for id in pages.checks() if pages.judge(id).verdict == "cited"}
    assert cited == set(ledger.sources()) - set(pages.checks()) | said
    assert all(pages.judge(id).reason for id in said)


def test_a_checked_row_says_why():
    for row in pages.claims(chapter=1):
        assert row.claim.id in pages.checks()  # every claim of chapter 1 is judged
        assert row.why.endswith(".") and "No check" not in row.why


@pytest.mark.parametrize(("chapter", "count"), [(4, 72), (7, 41)])
def test_open_names_what_would_settle_it_and_cited_names_a_source(chapter, count):
    rows = pages.claims(chapter=chapter)
    assert len(rows) == count and {row.claim.id for row in rows} <= set(pages.checks())
    for row in rows:
        assert row.why.endswith(".")
        if row.verdict == "open":
            assert "To settle it: " in row.reason and not row.failure
        if row.verdict == "cited":
            assert "ource: " in row.why


def test_rows_are_filtered_and_counted():
    own = pages.claims(source="001", verdict="close")
    assert own and all(r.claim.source == "001" and r.verdict == "close" for r in own)
    assert {row.verdict for row in pages.claims()} <= set(VERDICTS)
    found = {row.claim.id for row in pages.claims(search="  JEDEC hbm4 ")}
    assert found == {"hbm4-jedec-date"}


AS_REVIEWED = (
    "h200-ridge",
    "h100-ridge-295",
    "matmul-ai-1365",
    "a100-b200-bf16",
    "decode-util-0p34",
    "matmul-flops-2mnk",
)


@pytest.mark.rows("id", AS_REVIEWED)
def test_the_reviewers_own_arithmetic_agrees_where_it_asks_the_same(id):
    # worked out by hand in the ledger, from data sheets, before there was a check
    judgement = pages.judge(id)
    ours = judgement.computed.to(judgement.claim.quantity().unit or "1").value
    assert ours == pytest.approx(judgement.claim.first_computed, rel=0.07)


# -- no check knows its claim ---------------------------------------------------

JUDGING = {"judge", "judged", "KINDS", "Judgement", "ranges"}
BRANCHES = ast.If | ast.IfExp | ast.Match | ast.Try | ast.While
READERS = {f"stacklib.evidence.{name}" for name in ("get", "ledger.get", "ledger.load")}


def _typed(node: ast.AST) -> bool:
    """Whether a comparison or a key holds a number that may be a claim's."""
    held = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return any(type(x) in (int, float) and (x > 8 or x % 1) for x in held)


NUMBERS = {"value", "si", "first_computed", "number", "in_unit", "split"}
GIVEN = ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.For | ast.comprehension


def read_faults(tree: ast.Module) -> list[str]:
    """Numbers of the ledger without their kind, by which a leaf of it is known."""
    nodes = list(ast.walk(tree))
    came = [n for n in nodes if isinstance(n, ast.Import | ast.ImportFrom)]
    names = {
        one.asname or one.name: f"{getattr(n, 'module', '')}.{one.name}"
        for n in came
        for one in n.names
    }

    def asks(node: ast.AST) -> bool:
        first, _, rest = ast.unparse(getattr(node, "func", node)).partition(".")
        full = f"{names.get(first, '')}.{rest}".strip(".")
        return isinstance(node, ast.Call) and full in READERS

    def held(scope: ast.AST) -> set[str]:
        given = [n for n in ast.walk(scope) if isinstance(n, GIVEN)]
        froms = [(getattr(n, "iter", None) or n.value, n) for n in given]
        return {
            ast.unparse(part)
            for value, n in froms
            if value and any(map(asks, ast.walk(value)))
            for target in getattr(n, "targets", None) or [n.target]
            for part in ast.walk(target)
        }

    scopes = [(tree, set())]
    scopes += [(n, held(n)) for n in nodes if isinstance(n, ast.FunctionDef)]
    found = {
        f"line {n.lineno} takes .{n.attr} of a claim"
        for scope, names_of in scopes
        for n in ast.walk(scope)
        if isinstance(n, ast.Attribute) and n.attr in NUMBERS
        if any(asks(p) or ast.unparse(p) in names_of for p in ast.walk(n.value))
    }
    return sorted(found)


def outcome_faults(source: str) -> list[str]:
    """What lets checks depend on how their claims come out, or on who ran before."""
    faults, rooms = [], set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            rooms |= names if node.module == "stacklib" else set()
            judging = names & JUDGING or (node.module or "").endswith("judge")
            faults += [f"imports {node.module}"] if judging else []
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            asked = isinstance(node.value.func, ast.Name) and node.value.func.id
            if asked == "get" and node.attr != "claimed":
                faults.append(f"line {node.lineno} reads .{node.attr} of a claim")
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in rooms:
            room = importlib.import_module(f"stacklib.{ast.unparse(node.value)}")
            if node.attr not in room.__all__:
                faults.append(f"{ast.unparse(node)} is there if others imported it")
        if isinstance(node, ast.Compare | ast.Lambda) and _typed(node):
            faults.append(f"line {node.lineno} compares with a typed number")
        if isinstance(node, ast.keyword) and node.arg == "condition":
            faults.append(f"line {node.lineno} writes a condition after the mark")
        if isinstance(node, ast.FunctionDef) and "claim(" in _marks(node):
            for part in ast.walk(node):
                if isinstance(part, BRANCHES):
                    faults.append(f"line {part.lineno} of {node.name} branches")
    return faults


def _marks(node: ast.FunctionDef) -> str:
    return " ".join(map(ast.unparse, node.decorator_list))


def test_no_check_of_the_book_depends_on_its_outcome():
    where = set(pages.where(pages.sources()).values())
    faults = {
        name: found
        for name, source in pages.sources()
        if name in where and (found := outcome_faults(source))
    }
    assert faults == {}


READ = [
    "from stacklib.evidence import ledger\ndef f(): return ledger.get('a').value",
    "from stacklib.evidence import get\ndef f():\n    c = get('a')\n    return c.value",
    "from stacklib.evidence import get as g\nX = g('a').quantity().si",
    "import stacklib.evidence.ledger as L\ndef f(): return [c.value for c in L.load()]",
    "from stacklib.evidence import get\nX = float(get('a').claimed.split()[0])",
]


def test_no_page_takes_a_claims_number_without_its_kind():
    taken = {name: read_faults(ast.parse(source)) for name, source in pages.sources()}
    assert {name: faults for name, faults in taken.items() if faults} == {}
    assert [source for source in READ if not read_faults(ast.parse(source))] == []


@pytest.mark.rows(
    ("planted", "says"),
    [
        ("@claim('a')\ndef f():\n    return [x, y][x.si > 148]\n", "typed number"),
        ("def g():\n    return x if x.si > 148 else y\n", "typed number"),  # a helper
        ("def f():\n    return min(x, key=lambda q: abs(q.si - 148))\n", "typed"),
        ("from stacklib.evidence.kinds import KINDS\n", "imports"),
        ("def f():\n    return get('h200-ridge').value\n", "reads .value"),
        ("def f():\n    return get('h200-ridge').quantity() / 2\n", "reads .quantity"),
        ("def f():\n    return Finding(x, condition='x', then=y)\n", "after the mark"),
        ("from stacklib import models\nmodels.work.operations\n", "others imported"),
        ("@claim('a')\ndef f():\n    return x if x > y else y\n", "branches"),
        ("@claim('a')\ndef f():\n    if x > y:\n        return y\n", "branches"),
    ],
)
def test_a_branch_on_the_verdict_is_caught(planted, says):
    (fault,) = outcome_faults(planted)
    assert says in fault


# -- where checks stand --------------------------------------------------------


def test_every_mark_is_found_in_the_source():
    modules = pages.where(pages.sources())
    assert {module.split(".")[2] for module in modules.values()} >= {"gpu", "memory"}
    for name in set(modules.values()):
        ids = {id for id, module in modules.items() if module == name}
        assert set(carried(importlib.import_module(name))) == ids


def test_two_checks_of_a_claim_name_both_modules():
    one, other = (
        ("pages.a", '@claim("h200-ridge")\n'),
        ("pages.b", '@claim(\n"h200-ridge"'),
    )
    with pytest.raises(ValueError, match=r"'h200-ridge' .*: pages\.a, pages\.b"):
        pages.where([one, other])
    with pytest.raises(ValueError, match=r": pages\.a, pages\.a"):
        pages.where([one, one])


def test_a_check_of_no_claim_is_named_with_its_module():
    with pytest.raises(ValueError, match=r"pages\.a checks 'h200-rigde', .* no claim"):
        pages.where([("pages.a", '@claim("h200-rigde")\n')])


def test_a_page_that_does_not_import_leaves_its_rows_open(monkeypatch):
    def broken(name):
        raise ImportError(f"cannot import {name}")

    pages.found.cache_clear()
    monkeypatch.setattr(pages, "import_module", broken)
    row = pages.judge("h200-ridge")
    assert row.verdict == "open"
    assert "cannot import stacklib.pages.roofline.roofline.claims" in row.why
    assert len(pages.claims()) == len(claims())


if __name__ == "__main__":
    RECORD.write_text(recorded(pages.claims()), "utf-8")
