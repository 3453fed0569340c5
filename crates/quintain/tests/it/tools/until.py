"""until.py SIGNAL N COMMAND...: sends a signal to a command when the file `calls` has N lines.

Ends with the code of the command, 128 and the signal's number when that killed it.
"""

import pathlib
import signal
import subprocess
import sys
import time

name, lines, *command = sys.argv[1:]
calls = pathlib.Path("calls")
process = subprocess.Popen(command)
while process.poll() is None:
    if calls.exists() and calls.read_text().count("\n") >= int(lines):
        process.send_signal(signal.Signals["SIG" + name])
        break
    time.sleep(0.01)
code = process.wait()
sys.exit(code if code >= 0 else 128 - code)
