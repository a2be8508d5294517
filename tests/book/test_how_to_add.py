"""Every command of *How to add* runs as printed and leaves a sound tree."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _tools import coverage_map, nb, said, tree

from stacklib import grading
from stacklib.cli import main
from stacklib.evidence import ledger

from . import shipped

PAGE = tree.ROOT / "book" / "how-to-add.md"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
HIDE = shutil.ignore_patterns("own_prose.txt", "*.safetensors")
LEDGER = "stacklib/evidence/data/claims.csv"
RECORD = "tests/pages/judged.csv"
NEEDED = (
    "stacklib",
    "chapters",
    RECORD,
    "book/_toc.yml",
    "book/coverage.toml",
    "book/systems.toml",
)

# Run in the copy, where `stacklib` is the copy's.
CHECK = """
import json, sys
from pathlib import Path
from _tools import coverage_map, layers
from stacklib import hardware, pages
from stacklib.evidence import leaf_faults

root, rows, source = Path.cwd(), json.loads(sys.argv[1]), sys.argv[2]
assert pages.__file__.startswith(str(root)), pages.__file__
row = pages.judge("two-readers-slower")
systems, scope = coverage_map.systems(root), {}
*head, last = source.splitlines()
exec("\\n".join(head), scope)
print(json.dumps({
    "known": [v for v in hardware.get("my-gpu").fields.values() if v is not None],
    "judged": [row.computed_text, row.verdict, leaf_faults(row)],
    "faults": layers.faults(root) + layers.circles(root) + [
        fault for id, entry in rows.items()
        for fault in coverage_map.entry_faults(id, entry, systems, root)],
    "shown": eval(last, scope)._repr_mimebundle_(),
}))
"""


def commands(program: str) -> list[list[str]]:
    """What the page's blocks type to ``stacklib`` or to ``make``, in order."""
    blocks = "".join(BLOCK.findall(PAGE.read_text("utf-8"))).replace("\\\n", " ")
    lines = [shlex.split(line.removeprefix("$ ")) for line in blocks.splitlines()]
    assert {first for first, *_ in lines} == {"stacklib", "make"}
    return [words for first, *words in lines if first == program]


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """What the commands need of the tree, after all of them have run."""
    root = tmp_path_factory.mktemp("book")
    (root / "exercises").mkdir()
    for name in NEEDED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (tree.ROOT / name).is_dir():
            shutil.copytree(tree.ROOT / name, root / name, ignore=HIDE)
        else:
            shutil.copy(tree.ROOT / name, root / name)
    with (root / "book/systems.toml").open("a") as systems:  # all others are shown
        systems.write('"10.99" = { title = "A system", chapter = 10 }\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for words in commands("stacklib"):
            assert main(words) == 0, words
    return root


@pytest.fixture(scope="module")
def found(copy: Path) -> dict:
    """What the copy's own package and tools say of what was added."""
    known = coverage_map.coverage()
    new = {k: v for k, v in coverage_map.coverage(copy).items() if k not in known}
    assert len(new) == 1
    cell, _ = (c for c in page(copy).cells if c.cell_type == "code")
    places = os.pathsep.join([str(copy), str(tree.ROOT / "book")])
    command = [sys.executable, "-c", CHECK, json.dumps(new), cell.source]
    env = {**os.environ, "PYTHONPATH": places}
    done = subprocess.run(
        command, cwd=copy, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def page(root: Path):
    """The new section's notebook."""
    (path,) = root.glob("chapters/10-*/who-rounds-last.ipynb")
    return tree.read_notebook(path)


def test_the_page_shows_each_kind_once():
    kinds = [words[1] for words in commands("stacklib")]
    assert kinds == ["device", "part", "claim", "section", "number", "exercise"]


def test_the_new_device_loads_and_nothing_is_known_of_it(found):
    assert found["known"] == []


def test_the_new_claim_is_one_line_and_judged_as_recorded(copy, found):
    before = (tree.ROOT / LEDGER).read_bytes()
    after = (copy / LEDGER).read_bytes()
    assert after.startswith(before) and after[len(before) :].count(b"\n") == 1
    assert (b"\r\n" in before) == after[len(before) :].endswith(b"\r\n")
    assert ledger.read(copy / LEDGER)[-1].id == "two-readers-slower"
    assert found["judged"] == ["", "open", []]
    line = (copy / RECORD).read_text("utf-8").splitlines()[-1]
    assert line == "two-readers-slower,2,ratio,,open"


def test_the_new_section_leans_on_nothing_above_and_is_mapped(found):
    assert found["faults"] == []


def test_the_new_notebooks_are_sound_and_show_what_their_cell_gives(copy, found):
    (new,) = copy.glob("chapters/10-*/who-rounds-last.ipynb")
    assert nb.faults(new, copy) == []
    first, second = (c for c in page(copy).cells if c.cell_type == "code")
    assert dict(first.outputs[0].data) == found["shown"]
    numbers = said.index(said.of_notebook(page(copy), "new"))
    assert said.faults(numbers) == []
    example, share = numbers
    assert f"[{numbers[example].text}](#q:{example})" in page(copy).cells[0].source
    assert share == "who_rounds_last.share"
    scope: dict = {}
    *head, last = second.source.splitlines()
    exec("\n".join(head), scope)
    shown = eval(last, scope)._repr_mimebundle_()
    assert dict(second.outputs[0].data) == shown


def test_the_table_of_contents_lists_every_new_notebook_once(copy):
    listed = (copy / "book/_toc.yml").read_text("utf-8")
    for path in copy.glob("chapters/*/*.ipynb"):
        name = tree.name(path, copy).removesuffix(".ipynb")
        assert listed.count(f"file: {name}\n") == 1, name


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="make: not run (no make)")
def test_the_make_lines_write_the_new_text(tmp_path):
    shipped.copied(tmp_path)
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    for words in commands("stacklib"):
        assert main([*words, "--root", str(tmp_path)]) == 0, words
    (notebook,) = tmp_path.glob("chapters/10-*/who-rounds-last.ipynb")
    text = notebook.read_text("utf-8").replace("share=chosen(1,", "share=chosen(3,")
    notebook.write_text(text, "utf-8")
    link = "\n[1](#q:who_rounds_last.share)\n"
    page = tmp_path / "book" / "tools.md"
    page.write_text(page.read_text("utf-8") + link, "utf-8")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    for words in commands("make"):
        line = ["make", "-o", ".venv/.stamp", *words]
        assert subprocess.run(line, cwd=tmp_path, env=env).returncode == 0, words
    assert link.replace("[1]", "[3]") in page.read_text("utf-8")


def test_the_new_exercise_proves(copy):
    proof = grading.prove(copy)
    assert proof.faults == () and len(proof.cases) == 8
