"""Prints what the demonstration left behind."""

import os

for folder, _, files in sorted(os.walk("quintain-demo")):
    for name in sorted(files):
        size = os.path.getsize(os.path.join(folder, name))
        print(os.path.join(folder, name), "empty" if size == 0 else "written")
