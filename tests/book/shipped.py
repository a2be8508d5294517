"""Running what is typed against what is shipped: each artefact as its reader has it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from _tools import tree

from ..typed import EXERCISES, LINES, NUMPY, SERVER, Typed

# Run by the artefact's own Python: all lines in one process, for speed.
INSIDE = """
import contextlib, io, json, sys, traceback
from stacklib import cli
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main(words)
        except BaseException:
            status = traceback.format_exc()
    print(json.dumps([status, out.getvalue(), err.getvalue()]), flush=True)
"""


@dataclass(frozen=True)
class Artefact:
    """What is shipped: where its package lies, where one types, what it has there."""

    name: str
    path: tuple[Path, ...]
    cwd: Path
    has: frozenset[str] = frozenset()
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of ours but what a reader would set."""
        path = os.pathsep.join(map(str, self.path))
        home = str(self.cwd / "home")
        plain = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONUTF8": "1"}
        return {**plain, "PYTHONPATH": path, **self.more}

    def run(self, *words: str, given: str = "") -> subprocess.CompletedProcess:
        """Python without site-packages, so that it finds `path` and nothing else."""
        return subprocess.run(
            [sys.executable, "-S", *words],
            cwd=self.cwd,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
        )

    def interrupted(self, *words: str) -> tuple[int, str, str]:
        """The same, stopped by Ctrl-C once it has printed."""
        process = subprocess.Popen(
            [sys.executable, "-S", *words],
            cwd=self.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err


def fault(typed: Typed, artefact: Artefact, status: object, out: str, err: str) -> str:
    """What is wrong with an answer; nothing where the line did what it says."""
    lacks = typed.needs and typed.needs not in artefact.has
    wanted = 2 if lacks else typed.status
    if status != wanted or "Traceback" in err:
        return f"{typed.line}: status {status}, not {wanted}: {err[-300:]}"
    if "\r" in err:
        return f"{typed.line}: progress frames in a redirected stderr"
    if lacks and not names_the_lack(typed, err):
        return f"{typed.line}: does not say what it needs: {err}"
    if "--json" in typed.words and not is_json(out):
        return f"{typed.line}: no JSON: {out[:200]}"
    return ""


def names_the_lack(typed: Typed, err: str) -> bool:
    if typed.needs in (NUMPY, SERVER):  # NumPy is missed first, where it is missing too
        return "pip install" in err
    word = "exercises/" if typed.needs == EXERCISES else "checkout"
    return word in err or "--root" in err


def is_json(out: str) -> bool:
    try:
        return isinstance(json.loads(out), dict)
    except ValueError:
        return False


def in_one_process(artefact: Artefact, lines: Iterable[Typed]) -> list[str]:
    """The faults of some lines, run one after the other in one process."""
    asked = list(lines)
    done = artefact.run("-c", INSIDE, given=json.dumps([t.words for t in asked]))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked), done.stderr
    found = (fault(t, artefact, *a) for t, a in zip(asked, answers, strict=True))
    return [said for said in found if said]


def one_by_one(artefact: Artefact, lines: Iterable[Typed]) -> list[str]:
    """The faults of some lines, each a program of its own."""
    found = []
    for typed in lines:
        words = ("-m", "stacklib", *typed.words)
        if typed.stopped and typed.needs in artefact.has:
            found.append(fault(typed, artefact, *artefact.interrupted(*words)))
        else:
            done = artefact.run(*words)
            answer = (done.returncode, done.stdout, done.stderr)
            found.append(fault(typed, artefact, *answer))
    return [said for said in found if said]


# Run by the Python that notebooks are to run with: each in a kernel of its own.
KERNELS = """
import json, resource, sys
import nbformat
from nbclient import NotebookClient

def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

for path in json.load(sys.stdin):
    folder, name = path.rpartition("/")[0], "/".join(path.split("/")[-2:])
    before, error = spent(), ""
    try:
        where = {"metadata": {"path": folder}}
        NotebookClient(nbformat.read(path, 4), timeout=None, resources=where).execute()
    except Exception as fault:
        error = str(fault).strip().splitlines()[-1]
    row = {"name": name, "error": error, "seconds": spent() - before}
    print(json.dumps(row), flush=True)
"""


def notebooks(python: Path, paths: Iterable[Path]) -> list[dict]:
    """Of each notebook, run by `python`: its name, last error and CPU seconds."""
    asked = json.dumps([str(path) for path in paths])
    env = {k: v for k, v in os.environ.items() if not k.startswith(("STACKLIB", "PY"))}
    done = subprocess.run(
        [python, "-c", KERNELS], input=asked, env=env, capture_output=True, text=True
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    return rows


def copied(folder: Path) -> Path:
    """The tree as committed or about to be, in a folder."""
    listed = tree.git(tree.ROOT, "ls-files", "-co", "--exclude-standard", "-z") or ""
    for name in filter(None, listed.split("\0")):
        if (tree.ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tree.ROOT / name, folder / name)
    return folder


def told(artefact: str, ran: int, faults: list[str]) -> str:
    """One line of the matrix."""
    return f"{artefact}: {ran} run, {len(faults)} failed"


QUICK = [typed for typed in LINES if not typed.slow]
