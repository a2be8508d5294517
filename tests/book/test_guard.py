"""Nothing the book shows is impossible, and nothing is shown past the guard."""

import copy
import json

from _tools import leaves, tree

from stacklib.evidence import guard

NOTEBOOKS = [
    p
    for folder in ("chapters", "book")
    for p in sorted((tree.ROOT / folder).rglob("*.ipynb"))
    if ".ipynb_checkpoints" not in p.parts
]


def test_no_table_or_figure_shows_the_impossible():
    shown = {path: guard.faults(guard.read_notebook(path)) for path in NOTEBOOKS}
    assert {path: faults for path, faults in shown.items() if faults} == {}


def test_every_row_says_its_device_or_why_it_has_none():
    rows = [r for p in NOTEBOOKS for e in guard.read_notebook(p) for r in e["rows"]]
    assert [row["row"] for row in rows if not row["device"]] == []
    assert all("model" in row for row in rows)


def test_a_row_named_after_a_device_is_that_devices():
    entries = [e for p in NOTEBOOKS for e in guard.read_notebook(p)]
    assert [*leaves.misnamed(entries)] == []
    lie = {"row": "A100 80", "device": "h100_sxm"}  # a legend that is swapped
    assert [*leaves.misnamed([{"name": "f", "rows": [lie]}])]


def test_every_table_and_figure_is_registered():
    loose = {path: guard.unregistered(path) for path in NOTEBOOKS}
    assert {path: names for path, names in loose.items() if names} == {}


def roofline_of(entry, device):
    """Whether it is a figure that draws the roof of a device."""
    rows = [r for r in entry["rows"] if r["device"] == device]
    return any(
        isinstance(v[0], list) and "FLOP/s" in n
        for r in rows
        for n, v in r["values"].items()
    )


def decode():
    return next(p for p in NOTEBOOKS if p.stem == "decode")


def test_a_device_that_beats_its_own_roofline_is_caught():
    entries = [e for p in NOTEBOOKS for e in copy.deepcopy(guard.read_notebook(p))]
    roofs = next(e for e in entries if roofline_of(e, "h100_sxm"))
    row = next(r for r in roofs["rows"] if r["device"] == "h100_sxm")
    name = next(n for n in row["values"] if "FLOP/s" in n)
    rates, *unit = row["values"][name]
    row["values"][name] = [[r * 1.1 for r in rates], *unit]
    fault = guard.faults([roofs])[0]
    assert f"row {row['row']}" in fault and "exceeds" in fault


def test_a_time_below_its_bound_is_caught():
    entries = copy.deepcopy(guard.read_notebook(decode()))
    table = next(e for e in entries if e["name"] == "six-devices")
    assert guard.faults([table]) == []
    table["rows"][0]["values"]["least time"][0] /= 2
    (fault,) = guard.faults([table])
    assert "least time" in fault and "is below" in fault


def test_a_speed_for_what_does_not_fit_is_caught():
    entries = copy.deepcopy(guard.read_notebook(decode()))
    table = next(e for e in entries if e["name"] == "six-devices")
    table["rows"][0]["feasible"] = False
    (fault, *_) = guard.faults([table])
    assert "H100" in fault


def test_an_unregistered_table_is_caught(tmp_path):
    notebook = json.loads(decode().read_text())
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(guard.MIME, None)
    path = tmp_path / "planted.ipynb"
    path.write_text(json.dumps(notebook))
    assert guard.unregistered(path)
