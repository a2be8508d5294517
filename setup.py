"""What `pyproject.toml` cannot say: the package carries our measurements.

They stand in `benchmarks/`, once; a wheel holds them in `stacklib/benchmarks/`, where
`stacklib.quantity.files` finds them.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("benchmarks/results", "benchmarks/predictions")


def measurements() -> list[str]:
    """Result files and the predictions committed before them."""
    found = [p.as_posix() for f in FOLDERS for p in sorted(Path(f).glob("*.json"))]
    if not found:
        raise SystemExit("no benchmarks/results here: build from a whole checkout")
    return found


class WithMeasurements(build_py):
    """`build_py` that also copies the measurements into the package."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # an editable install finds those of the checkout
            for name in measurements():
                goal = Path(self.build_lib, "stacklib", name)
                self.mkpath(str(goal.parent))
                self.copy_file(name, str(goal))

    def get_source_files(self) -> list[str]:
        return [*super().get_source_files(), *measurements()]


setup(cmdclass={"build_py": WithMeasurements})
