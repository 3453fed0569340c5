"""show.py FILE...: prints what is in files; a folder as the names of what is in it."""

import pathlib
import sys

for name in sys.argv[1:]:
    path = pathlib.Path(name)
    if path.is_dir():
        print(name, sorted(each.name for each in path.iterdir()))
    elif path.exists():
        print(path.read_text(), end="")
    else:
        print(name, "does not exist")
