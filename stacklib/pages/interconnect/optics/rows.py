"""Tables of section 6.11: ports two ways, and failures by source."""

from __future__ import annotations

from typing import Any

from stacklib.pages.interconnect import optics as page

WORDS = {"pluggable": "pluggable module", "package": "in the package"}
SOURCES = {
    "supposed by the claim": page.fit,
    "modules in Meta's test, best": lambda: page.fit_measured("pluggable, high"),
    "modules in Meta's test, worst": lambda: page.fit_measured("pluggable, low"),
    "package in Meta's test": lambda: page.fit_measured("package"),
}


def ports() -> list[dict[str, Any]]:
    """Watts, energy per bit, and the cluster."""
    return [
        {
            "optics": words,
            "engine": page.part(way, "engine"),
            "laser": page.part(way, "laser"),
            "port": page.part(way, "port"),
            "per bit": page.per_bit(way),
            "cluster": page.fleet(way),
        }
        for way, words in WORDS.items()
    ]


def failures() -> list[dict[str, Any]]:
    """FIT by source, and what a fleet loses either way."""
    fits = {words: find() for words, find in SOURCES.items()}
    return [
        {
            "source": words,
            "FIT": fit,
            "pulled": page.stuck(together=False, fit=fit),
            "whole switch": page.stuck(together=True, fit=fit),
        }
        for words, fit in fits.items()
    ]
