"""Pages written from the database: one a device, one a model; tables of all.

The pages are no documents: they hang on ``html-collect-pages``, as the listings of
``viewcode`` do, so that the contents in the margin stay short. Each is written anew
only when a digest of what it is made from changed; ``{facts NAME}`` puts a table of
all into an ordinary page, which is read again when the data changed.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import fact_conflicts
import fact_devices
import fact_links
import fact_models
import fact_peaks
import fact_prices
import fact_runs
from assets import STATIC, digest
from by_page import by_page, keep
from computed_links import digest as digest_of
from docutils import nodes
from fact_html import Sheet, escape
from first_terms import found_by
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from workers import share

import stacklib
from stacklib.hardware import Accelerator

ROOMS = (
    "quantity",
    "hardware",
    "models",
    "roofline",
    "cost",
    "gpu",
    "plots",
    "evidence/conflicts",
    "evidence/guard",
)
PACKAGE = Path(stacklib.__file__).parent
STAMP = "fact_pages.json"
TEMPLATE = "page.html"


@dataclass(frozen=True)
class Fact:
    """One page: names, sections, words and summary to find it by, and its writer."""

    page: str
    title: str
    aliases: tuple[str, ...]
    sections: list[tuple[str, str]]
    words: str
    summary: str
    body: Callable[[], str]
    made_from: str


def facts(env: Any) -> list[Fact]:
    """Every generated page: those of a table stand beside the page that shows it."""
    found = []
    for name, make in PAGES.items():
        homes = [page for page, names in documents(env).items() if name in names]
        for home in sorted(homes)[:1]:
            found += make(home.rpartition("/")[0])
    return found


def _device_facts(folder: str) -> Iterator[Fact]:
    data = PACKAGE / "hardware" / "data" / "accelerators"
    for device in fact_devices.devices():
        yield Fact(
            f"{folder}/{device.key}".lstrip("/"),
            device.name,
            device.aliases,
            fact_devices.SECTIONS,
            fact_devices.text(device),
            fact_devices.summary(device, Sheet()),
            partial(_device_body, device),
            digest([data / f"{device.key}.toml"]),
        )


def _device_body(device: Accelerator) -> str:
    return fact_devices.device_page(device, fact_conflicts.of_device(device))


def _model_facts(folder: str) -> Iterator[Fact]:
    # A model's page names every device, so it is made from all of them.
    every = digest([*(PACKAGE / "hardware" / "data" / "accelerators").glob("*.toml")])
    for model in fact_runs.by_size():
        yield Fact(
            f"{folder}/{model.key}".lstrip("/"),
            model.name,
            (model.key,),
            fact_models.SECTIONS,
            fact_models.text(model),
            fact_models.summary(model, Sheet()),
            partial(fact_models.model_page, model),
            every,
        )


PAGES: dict[str, Callable[[str], Iterator[Fact]]] = {
    "devices": _device_facts,
    "models": _model_facts,
}


# ---- what the pages are made from ----


def shared_sources() -> list[Path]:
    """All that every generated page depends on: code, styles, common data."""
    own = [*Path(__file__).parent.glob("*.py"), *STATIC.glob("*.*")]
    code = [
        path
        for room in ROOMS
        for path in (PACKAGE / room).rglob("*")
        if path.suffix in (".py", ".toml", ".json", ".csv")
        and path.parent.name != "accelerators"
    ]
    return own + code


def state(app: Sphinx) -> dict[str, str]:
    """Digest by page of what it is made from; ``""`` is that of all together."""
    env = app.env
    if not documents(env):
        return {}
    contents = Path(app.confdir) / getattr(app.config, "external_toc_path", "")
    own = [contents] if contents.is_file() else []
    common = digest([*shared_sources(), *own])
    pages = {fact.page: f"{common} {fact.made_from}" for fact in facts(env)}
    return {"": digest_of({"": common, **pages}), **pages}


def stamp(app: Sphinx) -> Path:
    """Where the digests of the last finished build are kept."""
    return Path(app.doctreedir) / STAMP


def last_state(app: Sphinx) -> dict[str, str]:
    """Digests of the last finished build; empty before the first."""
    path = stamp(app)
    return json.loads(path.read_text()) if path.exists() else {}


def documents(env: Any) -> dict[str, set[str]]:
    """The tables that each document shows, kept in Sphinx's pickled environment."""
    return by_page(env, "fact_documents")


def outdated(app: Sphinx, env: Any, *_: Any) -> list[str]:
    """Documents with a table of facts, after a change of the data."""
    return [] if state(app) == last_state(app) else sorted(documents(env))


# ---- writing ----


def collect(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Have the pages written whose digest changed, or that are missing."""
    old, new, known = last_state(app), state(app), facts(app.env)
    feed(app, known)
    stale = [
        fact
        for fact in known
        if old.get(fact.page) != new[fact.page]
        or not Path(app.outdir, f"{fact.page}.html").exists()
    ]
    # Begun before the pages that other extensions hand out, awaited after them.
    app.fact_writers = share(app, partial(write, app), stale)  # type: ignore
    yield from ()


def write(app: Sphinx, some: Sequence[Fact]) -> None:
    """Write some of the pages, each as Sphinx writes a page that it is given."""
    for fact in some:
        context = {
            "title": escape(fact.title),
            "body": fact.body(),
            "toc": margin(fact),
            "meta": {},
        }
        app.builder.handle_page(fact.page, context, TEMPLATE)  # type: ignore


def join(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Wait until all are written."""
    app.fact_writers.join()  # type: ignore
    yield from ()


def margin(fact: Fact) -> str:
    """The contents of a page, as the theme's margin takes them."""
    entries = "".join(
        f'<li><a class="reference internal" href="#{name}">{escape(head)}</a></li>'
        for name, head in fact.sections
    )
    return (
        f'<ul><li><a class="reference internal" href="#">{escape(fact.title)}</a>'
        f"<ul>{entries}</ul></li></ul>"
    )


def feed(app: Sphinx, known: list[Fact]) -> None:
    """Let the book's search find the pages, which it would prune as no documents."""
    indexer = getattr(app.builder, "indexer", None)
    if indexer is None:
        return
    prune, pages = indexer.prune, {fact.page for fact in known}
    indexer.prune = lambda documents: prune({*documents, *pages})
    for fact in known:
        document = nodes.document(None, None)
        section = nodes.section("", nodes.title("", fact.title), ids=["device"])
        section += found_by(fact.title, *fact.aliases)
        line = fact.summary.partition("</p>")[0]  # then comes what is unknown
        section += nodes.paragraph("", re.sub("<.*?>", "", line))
        section += nodes.raw("", fact.words, format="html")  # listed, not said
        document += section
        indexer.feed(fact.page, f"{fact.page}.html", fact.title, document)


def finished(app: Sphinx, error: Exception | None) -> None:
    """Remember what was written; drop the pages of what is no more."""
    if error is not None or app.builder.format != "html":
        return
    now = state(app)
    for page in {*last_state(app)} - {*now}:
        (Path(app.outdir) / f"{page}.html").unlink(missing_ok=True)
    stamp(app).write_text(json.dumps(now), encoding="utf-8")


# ---- tables of all, in ordinary pages ----

TABLES: dict[str, Callable[[Sheet], str]] = {
    "devices": fact_devices.device_table,
    "compare": fact_devices.comparison,
    "peaks": fact_peaks.peak_table,
    "ladder": fact_links.ladder,
    "links": fact_links.link_table,
    "memories": fact_links.memory_table,
    "conflicts": fact_conflicts.conflict_tables,
    "models": fact_models.model_table,
    "prices": fact_prices.price_table,
    "costs": fact_prices.cost_tables,
}


class Facts(SphinxDirective):
    """``{facts} devices``: one of the tables, as HTML."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0].strip()
        if name not in TABLES:
            raise self.error(f"{{facts}} {name!r}: one of {', '.join(TABLES)}")
        documents(self.env).setdefault(self.env.docname, set()).add(name)
        sheet = Sheet()
        body = TABLES[name](sheet)
        # The page's numbers are embedded together, those of its prose too.
        return [nodes.raw("", body, format="html", trees=sheet.trees)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, the pages, and the check that they are up to date."""
    app.add_directive("facts", Facts, override=True)
    app.connect("env-get-outdated", outdated)
    keep(app, "fact_documents")
    app.connect("html-collect-pages", collect, priority=400)
    app.connect("html-collect-pages", join, priority=600)
    app.connect("build-finished", finished)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}
