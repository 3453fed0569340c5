"""The command line: `quintain` and `python -m quintain`."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

from . import _quintain


def _program() -> str:
    """A file that starts this command again, for the practice target and client entries."""
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own).startswith("quintain") and os.access(own, os.X_OK):
        return own
    beside = os.path.join(sysconfig.get_path("scripts"), "quintain")
    return beside if os.access(beside, os.X_OK) else shutil.which("quintain") or own


def main() -> int:
    """Runs one command and returns its exit code."""
    return _quintain.main(sys.argv[1:], _program())


if __name__ == "__main__":
    sys.exit(main())
