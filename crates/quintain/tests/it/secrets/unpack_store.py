"""Prints everything that a store of runs contains, packed values unpacked."""

import sqlite3
import sys
import zlib

store = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
tables = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
for table in tables:
    for row in store.execute(f"SELECT * FROM {table}"):
        for value in row:
            if isinstance(value, bytes):
                plain = value[1:] if value[0] == 0 else zlib.decompress(value[9:], -15)
                value = plain.decode()
            print(f"{table}: {value}")
