"""meanwhile.py QUINTAIN: follows a run that waits at its third test, and lets it end after the first two were shown."""

import pathlib
import subprocess
import sys
import time

quintain = sys.argv[1]
run = subprocess.Popen([quintain, "eval", "-j", "1", "--no-table"])
calls = pathlib.Path("calls")
while not calls.exists() or calls.read_text().count("\n") < 3:
    time.sleep(0.01)
follower = subprocess.Popen([quintain, "runs", "show", "--follow"], stdout=subprocess.PIPE, text=True)
for line in follower.stdout:
    print(line, end="")
    if "one" in line and not pathlib.Path("go").exists():
        assert run.poll() is None, "the run ended too early"
        pathlib.Path("go").touch()
print("follower:", follower.wait())
run.wait()
