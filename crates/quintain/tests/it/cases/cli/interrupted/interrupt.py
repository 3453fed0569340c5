"""Runs a command, sends it a signal once it is connected, and ends as it does.

    interrupt.py SIGNAL COMMAND [ARGUMENT...]
"""

import signal
import subprocess
import sys

process = subprocess.Popen(sys.argv[2:], stderr=subprocess.PIPE, text=True)
for line in process.stderr:
    if "tools listed" in line:
        break
process.send_signal(signal.Signals[f"SIG{sys.argv[1]}"])
print(process.stderr.read().splitlines()[-1])
sys.exit(process.wait())
