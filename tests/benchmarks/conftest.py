"""The benchmark scripts are no package: import them by their folder."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))
