"""The command line: ``stacklib COMMAND``; every command has --help and --json.

Exit status: 0 done (or: it fits, it passed), 1 the answer is no, 2 bad input, or
output that cannot be written.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

from stacklib import __version__

from .terminal import drop_output, printable

__all__ = ["main"]

# name -> what it does; each is a module with add_parser(subparsers), here or in `own`
COMMANDS = {
    "specs": "what is known of a device, with sources",
    "links": "links and memories, the fastest first; one of them with sources",
    "models": "language models: parameters, KV cache, work by layer",
    "roofline": "peak, bandwidth and ridge of a device; a decode step on it",
    "collective": "time of a collective, and NCCL's algorithm and protocol for it",
    "layout": "the fastest ways to lay a training step out over chips, and why",
    "topo": "the output of nvidia-smi topo -m: classes of pairs, islands, choices",
    "array": "what a product takes on an array of multipliers: cycles, use, reads",
    "plan": "what a budget runs; does a list of parts hold together, and what mends it",
    "rig": "what keeps the machine that stands there slow, from pasted text",
    "fit": "does a model fit the memory of some chips?",
    "estimate": "what a token takes on some chips, part by part, with its band",
    "journey": "one token through all layers, in time, joules and dollars",
    "watch": "dated forecasts with probabilities, and how they did",
    "search": "the best layout of a model on some chips within limits of time",
    "price": "what must be true for a price of a million tokens to pay",
    "simulate": "requests that come when they like, and how long they wait",
    "diagnose": "what is wrong with a server, from its log or its metrics",
    "measure": "the roofline of this machine, measured",
    "claims": "claims of the source documents and their verdicts",
    "assumptions": "judgements that the book's numbers rest on, each with its reason",
    "validate": "predictions held against published measurements",
    "generate": "text from the book's own small language model",
    "serve": "the book's own model behind OpenAI's API",
    "formats": "number formats of a few bits, and the numbers of one",
    "quantize": "the book's own model in few bits, as a file",
    "start": "your own copies of the exercises, in my/",
    "check": "grade exercises",
    "doctor": "what is installed here and what it is for",
    "new": "write the stub of a device, part, claim, section, number or exercise",
    "completion": "a script that completes these words in bash or zsh",
}

# Commands whose modules stand in a folder.
FOLDERS = {
    "ahead": ("journey", "watch"),
    "chips": ("array",),
    "own": ("generate", "quantize", "serve"),
    "rigs": ("plan", "rig"),
    "served": ("search", "price"),
}


def __dir__() -> list[str]:
    return __all__


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors name the nearest command or option."""

    def error(self, message: str) -> NoReturn:
        wrong = message.removeprefix("unrecognized arguments: ").split()
        if wrong and message.startswith("unrecognized"):
            near = nearest(wrong[0], self._options())
            message += f"\ndid you mean: {near}" if near else ""
        raise CommandError(message)

    def _options(self) -> list[str]:
        """The options of this parser and of its command's."""
        groups = [a.choices for a in self._actions if isinstance(a.choices, dict)]
        below = [parser._options() for group in groups for parser in group.values()]
        own = [word for action in self._actions for word in action.option_strings]
        return sum(below, own)


def nearest(word: str, known: Iterable[str]) -> str:
    """The name most like a word, or nothing where none is like it."""
    import difflib

    return next(iter(difflib.get_close_matches(word, known, 1)), "")


class CommandError(ValueError):
    """A command line that cannot be understood."""


def parser_of(command: str | None) -> Parser:
    """The parser of one command, or of none: it has the words of all."""
    parser = Parser(
        prog="stacklib",
        description="The AI hardware stack, computed.",
        epilog="Names ignore case, '-' and '_'; the beginning of one is enough "
        "where it leaves open neither release, size nor another product.",
    )
    parser.add_argument(
        "--version", action="version", version=f"stacklib {__version__}"
    )
    subparsers = parser.add_subparsers(
        dest="command", metavar="COMMAND", parser_class=Parser
    )
    for name, words in COMMANDS.items():
        if name == command:
            folders = [f"{f}." for f, names in FOLDERS.items() if name in names]
            home = f"stacklib.cli.{''.join(folders)}{name}"
            module = importlib.import_module(home)
            module.add_parser(subparsers)
        elif command is None:
            subparsers.add_parser(name, help=words)
    return parser


def _choose(argv: Sequence[str]) -> str | None:
    """The command asked for, or None when help is wanted."""
    words = [a for a in argv if not a.startswith("-")]
    if not argv or argv[0] in ("-h", "--help", "--version"):
        return None
    if words and argv[0] == words[0] and words[0] in COMMANDS:
        return words[0]
    asked = argv[0]
    near = nearest(asked, (*COMMANDS, "--version", "--help"))
    hint = f"did you mean: {near}" if near else f"known: {', '.join(COMMANDS)}"
    raise CommandError(f"unknown command {asked!r}\n{hint}")


def _fail(message: str, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"error": message}))
    print(f"stacklib: {message}", file=sys.stderr)
    return 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; default those of the process.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    printable()
    try:
        status = _run(argv, "--json" in argv)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader closed the pager
        drop_output()
        return 0
    except OSError as wrong:  # the disk that output goes to is full
        drop_output()
        print(f"stacklib: output cannot be written: {wrong.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _run(argv: Sequence[str], as_json: bool) -> int:
    try:
        command = _choose(argv)
        parser = parser_of(command)
        if command is None and not argv:
            parser.print_help()
            return 2
        args = parser.parse_args(argv)
        return int(args.func(args))
    except SystemExit as done:  # --help and --version have printed
        return int(done.code or 0)
    except (LookupError, ValueError, NotImplementedError) as wrong:
        return _fail(str(wrong), as_json)
    except ModuleNotFoundError as absent:
        if (absent.name or "").startswith("stacklib"):
            raise  # ours to mend, not the reader's to install
        message = f"this command needs {absent.name}, which is not installed here"
        return _fail(f"{message}\npip install {absent.name}", as_json)
    except OSError as wrong:
        if wrong.filename is None:
            raise
        return _fail(f"{wrong.filename}: {wrong.strerror}", as_json)
