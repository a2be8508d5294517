"""What holds the book to its promises, and what builds it.

Run from the repo root with `book` on the path: `python -m _tools.execute`.
Each checker is a function that returns a list of faults, one sentence each.
"""

import os

# Pages show the machine the book was measured on, not the one that builds it.
os.environ["STACKLIB_THIS_MACHINE"] = "book"
