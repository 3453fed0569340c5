"""elsewhere.py ARG...: the binary with these arguments in another folder."""

import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run(["quintain", *sys.argv[1:]], cwd=folder, check=False)
sys.exit(done.returncode)
