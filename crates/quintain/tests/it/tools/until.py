"""until.py SIGNAL WHAT=N... COMMAND...: sends a signal to a command once all of this is there.

`calls=N`: lines of the file `calls`; `stored=N`: cases in the store at `state`. Ends with the code of the
command, 128 and the signal's number when that killed it.
"""

import pathlib
import signal
import sqlite3
import subprocess
import sys
import time


def count(what):
    path = pathlib.Path({"calls": "calls", "stored": "state/runs.db"}[what])
    if not path.exists():
        return 0
    if what == "calls":
        return path.read_text().count("\n")
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
            return store.execute("SELECT count(*) FROM cases").fetchone()[0]
    except sqlite3.Error:
        return 0


name, *rest = sys.argv[1:]
wanted = {}
while "=" in rest[0]:
    what, number = rest.pop(0).split("=")
    wanted[what] = int(number)
process = subprocess.Popen(rest)
while process.poll() is None:
    if all(count(what) >= number for what, number in wanted.items()):
        process.send_signal(signal.Signals["SIG" + name])
        break
    time.sleep(0.01)
code = process.wait()
sys.exit(code if code >= 0 else 128 - code)
