"""Two searches: `find_plain` builds its statement of anything, `find_decoded` refuses quotes before it decodes its input."""

import json
import sqlite3
from urllib.parse import unquote

from serving import said, serve

STORE = sqlite3.connect(":memory:")
STORE.executescript("CREATE TABLE item(name TEXT, price INT); INSERT INTO item VALUES('lamp', 20), ('desk', 90);")


def tool(name):
    text = {"type": "string", "description": "Part of a name", "default": "lamp"}
    schema = {"type": "object", "properties": {"name": text}, "required": ["name"], "additionalProperties": False}
    return {"name": name, "description": "Finds items", "inputSchema": schema}


def call(tool, arguments):
    name = str(arguments["name"])
    if tool == "find_decoded":
        if "'" in name or '"' in name:
            return said("no quotes, please", isError=True)
        name = unquote(name)
    elif tool == "find_safely":
        return said(json.dumps(STORE.execute("SELECT * FROM item WHERE name LIKE ?", (f"%{name}%",)).fetchall()))
    try:
        return said(json.dumps(STORE.execute(f"SELECT name, price FROM item WHERE name LIKE '%{name}%'").fetchall()))
    except (sqlite3.Error, sqlite3.Warning) as error:
        return said(str(error), isError=True)


serve("finds", [tool(name) for name in ("find_plain", "find_decoded", "find_safely")], call)
