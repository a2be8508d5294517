"""Make the downloads in dist/: the book as zip and PDFs, notebooks, wheel, checksums.

Run after the book was built. Without Chromium there is no PDF: that is said, the rest
is made, and the exit status is 1.
"""

import argparse
import functools
import hashlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import stacklib
from _tools import release_archives, release_book, release_pdf, tree
from _tools.release_archives import ReleaseError
from _tools.release_page import PrintError

BUILT = tree.ROOT / "_build" / "html"
TOC = tree.ROOT / "book" / "_toc.yml"
DIST = tree.ROOT / "dist"
TITLE = "From Transistor to Token"
NAME = "from-transistor-to-token"
SUMS = "SHA256SUMS"
# A volume of paper -> the parts of the contents that it prints.
VOLUMES = {
    "book": ("Start here", "Chapters"),
    "reference": ("Facts", "Evidence", "Reference"),
}
# What an earlier release left in dist/; nothing else there is touched.
OURS = (f"{NAME}-*", "stacklib-*.whl", SUMS)


def timed(what: str, make: Callable[[], Path]) -> Path:
    """Make an artefact, saying what and how long it took."""
    print(f"release: {what} ...", end=" ", flush=True)
    start = time.perf_counter()
    made = make()
    print(f"{time.perf_counter() - start:.1f} s")
    return made


def archives(folder: Path, built: Path = BUILT) -> list[Path]:
    """The wheel and the two zips, made in `folder`."""
    book, notes = (f"{NAME}-{stacklib.__version__}-{x}" for x in ("html", "notebooks"))
    wheel = timed("wheel", lambda: release_archives.wheel(folder))
    return [
        wheel,
        timed(
            "notebooks",
            lambda: release_archives.notebooks_zip(
                wheel, folder / f"{notes}.zip", notes
            ),
        ),
        timed(
            "book",
            lambda: release_archives.book_zip(built, folder / f"{book}.zip", book),
        ),
    ]


def pdf(folder: Path, program: str, volume: str, built: Path = BUILT) -> Path:
    """The PDF of a volume, printed by the Chromium at `program`."""
    goal = folder / f"{NAME}-{stacklib.__version__}-{volume}.pdf"
    title = TITLE if volume == "book" else f"{TITLE}: {volume}"
    lines = release_book.outline(TOC, VOLUMES[volume])
    document = release_book.printable(built, lines, title, stacklib.__version__)
    goal.write_bytes(release_pdf.print_pdf(document, built, program))
    return goal


def checksums(folder: Path, files: list[Path]) -> Path:
    """Write `files` as ``sha256sum --check`` reads them."""
    rows = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(files)
    ]
    goal = folder / SUMS
    goal.write_text("".join(rows), encoding="utf-8")
    return goal


def publish(files: list[Path], dist: Path) -> None:
    """Put `files` into `dist` in place of an earlier release."""
    dist.mkdir(exist_ok=True)
    for pattern in OURS:
        for old in dist.glob(pattern):
            old.unlink()
    for file in files:
        shutil.move(file, dist / file.name)


def main(argv: list[str] | None = None) -> int:
    """Make all of it; 1 where something could not be made."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.parse_args(argv)
    if not (BUILT / "index.html").exists():
        print("release: no book at _build/html; run `make book`", file=sys.stderr)
        return 1
    program = release_pdf.chromium()
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        folder = Path(name)
        try:
            files = archives(folder)
            for volume in VOLUMES if program else ():
                make = functools.partial(pdf, folder, str(program), volume)
                files.append(timed(f"{volume}, printed", make))
        except (ReleaseError, PrintError) as error:
            print(f"failed\nrelease: {error}", file=sys.stderr)
            return 1
        files.append(checksums(folder, files))
        publish(files, DIST)
    for file in files:
        size = (DIST / file.name).stat().st_size
        print(f"  {size / 1e6:7.2f} MB  dist/{file.name}")
    if not program:
        print(
            "release: no PDF, as no Chromium was found; install one (apt install "
            "chromium) or name it in $CHROMIUM",
            file=sys.stderr,
        )
    return 0 if program else 1


if __name__ == "__main__":
    sys.exit(main())
