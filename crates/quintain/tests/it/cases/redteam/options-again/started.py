"""started.py: prints how the server was started since the last time, every way once."""

import os

with open("seen", encoding="utf-8") as seen:
    for line in sorted(set(seen)):
        print("  ", line, end="")
os.remove("seen")
