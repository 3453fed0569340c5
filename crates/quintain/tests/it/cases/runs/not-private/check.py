"""check.py QUINTAIN [damage]: prints what `doctor` reports about the store, damaged before if requested."""

import json
import pathlib
import sqlite3
import subprocess
import sys

quintain, *damage = sys.argv[1:]
if damage:
    path = pathlib.Path("state/runs.db")
    with sqlite3.connect(path) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = store.execute("PRAGMA page_size").fetchone()[0]
        root = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'cases'").fetchone()[0]
    store.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = b"\x07" * size
    path.write_bytes(content)
done = subprocess.run([quintain, "doctor", "--json"], capture_output=True, text=True)
checks = json.loads(done.stdout)["checks"]
check = next(check for check in checks if check["name"] == "stored runs")
print(done.returncode, check["status"], check["detail"] if check["status"] != "error" else "")
