"""What the tests of the commands share."""

from collections.abc import Callable

import pytest

from stacklib import cli


@pytest.fixture
def run(capsys) -> Callable[..., tuple[int, str, str]]:
    """``run("fit", ...)``: the status of a command, its output and its errors."""

    def command(*argv: str) -> tuple[int, str, str]:
        status = cli.main(list(argv))
        out, err = capsys.readouterr()
        return status, out, err

    return command
