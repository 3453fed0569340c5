"""A store that a later version has written."""
import sqlite3
with sqlite3.connect("state/runs.db") as store:
    store.execute("UPDATE program SET version = 99")
