"""A store that is none."""
import pathlib
pathlib.Path("state").mkdir()
pathlib.Path("state/runs.db").write_bytes(b"this is no database at all\n" * 300)
