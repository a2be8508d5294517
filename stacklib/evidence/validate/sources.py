"""Who measured: rows of one project count as one source."""

from __future__ import annotations

import re
from functools import lru_cache

_REPO = re.compile(r"(?:repo|issue \d+ of) ([\w.-]+/[\w.-]+)")
_ARXIV = re.compile(r"(\d{4}\.\d{4,5})")
_SITE = re.compile(r"(?:www\.)?((?:[\w-]+\.)+[a-z]{2,}(?:/[\w.-]+){0,2})")
_NAMELESS = "public repository, name not recorded"


@lru_cache(maxsize=65536)
def project(source: str) -> str:
    """The project behind a source text: repository, paper or site.

    Files of one repository share machine, method and author; leaving out one of
    them would leave its siblings in.
    """
    # Images of one site that transcribe one paper's figures are one source.
    text = source.strip().removeprefix("pages ")
    if found := _REPO.match(text):
        return found[1]
    if text.startswith(_NAMELESS):
        return f"unnamed: {_shortened(text[len(_NAMELESS) :])}"
    site = _SITE.match(text)
    if site and site[1].startswith("github.com/"):
        return site[1].removeprefix("github.com/")
    if site:
        return site[1].partition("/")[0]
    if found := _ARXIV.search(text):
        return f"arXiv_{found[1]}"
    return _shortened(text)


def _shortened(text: str) -> str:
    words = re.sub(r"[^\w\s./-]", " ", text).split()
    return " ".join(words[:4]) or "not named"
