"""``stacklib completion bash|zsh``: a script that completes commands, flags and names.

eval "$(stacklib completion bash)"      # in ~/.bashrc; or zsh, after compinit
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from .arguments import add_json, emit

# The word in front of what stands there, by shell; then one line a command.
BASH = """\
_stacklib() {{
  local words=
  if [ "$COMP_CWORD" -eq 1 ]; then words="{first}"
  else case ${{COMP_WORDS[1]}} in
{cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _stacklib stacklib"""
ZSH = """\
_stacklib() {{
  local found=
  if (( CURRENT == 2 )); then found="{first}"
  else case $words[2] in
{cases}
  esac; fi
  compadd -- ${{=found}} || _files
}}
compdef _stacklib stacklib"""
SHELLS = {"bash": (BASH, "words"), "zsh": (ZSH, "found")}


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "completion",
        description='For one shell: eval "$(stacklib completion bash)"; to keep it, '
        "write that line into ~/.bashrc (or zsh and ~/.zshrc).",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell you type in")
    add_json(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Print the script, or with --json the words of each command."""
    from . import COMMANDS

    words = {command: sorted(set(words_of(command))) for command in COMMANDS}
    if args.json:
        emit({"shell": args.shell, "words": words})
        return 0
    form, variable = SHELLS[args.shell]
    cases = [f'  {name}) {variable}="{" ".join(w)}";;' for name, w in words.items()]
    print(form.format(first=" ".join([*words, "--version"]), cases="\n".join(cases)))
    return 0


def words_of(command: str) -> Iterator[str]:
    """The flags of a command, the words it may be given, and the names it takes."""
    from stacklib import hardware, models
    from stacklib.quantizers import FORMATS

    from . import parser_of

    (commands,) = subparsers(parser_of(command))
    for parser in every(commands.choices[command]):
        for action in parser._actions:
            yield from action.option_strings
            yield from map(str, action.choices or ())
            if {action.dest} & {"device", "on"} and command != "new":
                yield from hardware.names()
            if action.dest == "model" and command not in (
                "generate",
                "quantize",
                "serve",
            ):
                yield from models.names()
    if command == "formats":
        yield from FORMATS
    if command == "links":
        yield from (*hardware.link_names(), *hardware.memory_names())


def every(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of its own commands."""
    yield parser
    for group in subparsers(parser):
        for below in group.choices.values():
            yield from every(below)


def subparsers(parser: argparse.ArgumentParser) -> list[Any]:
    """The groups of commands of a parser."""
    kinds = argparse._SubParsersAction
    return [action for action in parser._actions if isinstance(action, kinds)]
