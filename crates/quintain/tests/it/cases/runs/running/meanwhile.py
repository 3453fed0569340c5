"""meanwhile.py QUINTAIN: lists a run and tries to resume and delete it while it still goes on, then lets it end."""

import pathlib
import subprocess
import sys
import time

quintain = sys.argv[1]
run = subprocess.Popen([quintain, "eval", "-j", "1", "--no-table"])
calls = pathlib.Path("calls")
while not calls.exists() or calls.read_text().count("\n") < 3:
    time.sleep(0.01)
for words in (
    ["runs", "list"],
    ["eval", "--resume", "--no-table"],
    ["runs", "delete", "latest"],
    ["runs", "delete", "--all", "--yes"],
):
    subprocess.run([quintain, *words])
pathlib.Path("go").touch()
run.wait()
