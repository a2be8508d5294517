"""Terminals that cannot take an answer: a full disk, ASCII, a closed pipe, a file."""

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stacklib import __version__, cli, models
from stacklib.cli import completion, terminal

FULL = Path("/dev/full")
STEP = ["roofline", "h100-sxm", "--model", "llama-3-70b", "--tp", "2"]
LINES = [
    ["--version"],
    ["--help"],
    ["specs", "--help"],
    ["specs", "h100-sxm"],
    ["specs", "h100-sxm", "--json"],
    ["specs", "h100-sxm", "--csv"],
    ["links", "--markdown"],
    ["claims", "--chapter", "1"],
    [*STEP, "--explain"],
    [*STEP, "--json"],
]


def typed(argv: list[str], out: io.TextIOBase, monkeypatch) -> tuple[int, str]:
    """Status and errors of a command whose output goes to ``out``."""
    err = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    with contextlib.redirect_stderr(err):
        status = cli.main(argv)
    return status, err.getvalue()


@pytest.mark.skipif(not FULL.exists(), reason="full disk: not run (no /dev/full)")
@pytest.mark.parametrize("argv", LINES, ids=" ".join)
def test_a_full_disk_is_said_in_one_line(argv, monkeypatch):
    with FULL.open("w") as full:
        status, err = typed(argv, full, monkeypatch)
    assert status == 2
    assert err == "stacklib: output cannot be written: No space left on device\n"


@pytest.mark.parametrize("argv", LINES, ids=" ".join)
def test_an_ascii_terminal_gets_the_whole_answer(argv, monkeypatch):
    answers = {}
    for name in ("ascii", "utf-8"):
        held = io.BytesIO()
        status, err = typed(argv, io.TextIOWrapper(held, encoding=name), monkeypatch)
        assert (status, err) == (0, "")
        answers[name] = held.getvalue().decode(name)
    plain, whole = answers.values()
    assert len(plain.splitlines()) == len(whole.splitlines()) > 0
    assert "?" not in plain.replace("?", "", whole.count("?"))
    if "--json" in argv:
        assert json.loads(plain) == json.loads(whole)


def test_every_letter_that_is_printed_has_a_plain_one():
    assert all(word.isascii() for word in terminal.PLAIN.values())
    said = "20.9 µs × 3 − 1 … ≤ └─ é".encode("ascii", "stacklib-plain").decode()
    assert said == "20.9 us x 3 - 1 ... <= `- ?"


def test_a_closed_pipe_ends_in_silence():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "stacklib", "specs"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_measurement_shows_its_bar_only_at_a_terminal(run, monkeypatch, capsys):
    from stacklib.roofline.host import measure

    asked = []

    def measured(quick, progress):
        asked.append(progress)
        list(measure._bar([1, 2], progress))
        raise ValueError("enough")

    monkeypatch.setattr(measure, "measure_host", measured)
    for argv in (["measure"], ["measure", "--json"]):
        status, _, err = run(*argv)
        assert status == 2 and "\r" not in err
    assert asked == [None, False]


def test_the_version_is_printed_and_a_misspelt_flag_is_answered(run):
    assert run("--version") == (0, f"stacklib {__version__}\n", "")
    status, _, err = run("--versoin")
    assert status == 2 and "did you mean: --version" in err


def test_tables_are_the_same_rows_in_every_form(run):
    _, text, _ = run("models")
    _, held, _ = run("models", "--csv")
    _, marked, _ = run("models", "--markdown")
    head, *rows = csv.reader(held.splitlines())
    assert head == ["model", "counted", "published", "difference", "why"]
    assert [row[0] for row in rows] == [
        line.split()[0] for line in text.splitlines()[1:]
    ]
    lines = marked.splitlines()
    assert lines[1] == "| --- | --- | --- | --- | --- |"
    assert [line.split(" | ")[1] for line in lines[2:]] == [row[1] for row in rows]
    assert len(rows) == len(models.names())


def test_a_bar_in_a_cell_of_markdown_is_escaped(capsys):
    from argparse import Namespace

    from stacklib.cli.arguments import show_table

    show_table(Namespace(csv=False, markdown=True), ("a",), [("x | y",)])
    assert capsys.readouterr().out.splitlines()[-1] == "| x \\| y |"


@pytest.mark.parametrize(
    ("words", "among"),
    [
        (["stacklib", "sp"], "specs"),
        (["stacklib", "specs", "h100_s"], "h100_sxm"),
        (["stacklib", "fit", "llama-3-7"], "llama-3-70b"),
        (["stacklib", "claims", "--ver"], "--verdict"),
        (["stacklib", "new", "num"], "number"),
        (["stacklib", "links", "nvlink5"], "nvlink5"),
    ],
)
def test_bash_completes_commands_flags_and_names(run, words, among):
    _, script, _ = run("completion", "bash")
    asked = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _stacklib"
    lines = f'{script}\n{asked}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", lines], capture_output=True, text=True)
    assert among in done.stdout.split()
    assert all(word.startswith(words[-1]) for word in done.stdout.split())


def test_zsh_has_the_words_of_bash(run):
    _, bash, _ = run("completion", "bash")
    _, zsh, _ = run("completion", "zsh")
    assert all(
        line.replace("words=", "found=") in zsh for line in bash.splitlines()[4:-4]
    )
    assert set(completion.words_of("doctor")) >= {"--json", "--csv", "--help"}
