"""together.py N COMMAND...: runs N processes of a command at once, and prints how they ended, sorted."""

import subprocess
import sys

count, *command = sys.argv[1:]
pipe = subprocess.PIPE
running = [subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True) for _ in range(int(count))]
ended = sorted((process.communicate()[0].strip(), process.returncode) for process in running)
for said, code in ended:
    # How long a call took is of no interest here, and lines of several processes would mix.
    print(code, said.splitlines()[0] if said else "")
sys.exit(max(code for _, code in ended))
