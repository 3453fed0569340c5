"""Tools that accept whatever they are given: `all` of them, or all but the first with `some`."""

import sys

from serving import said, serve

NAMES = ["first", "second", "third", "fourth"]


def tool(name):
    count = {"type": "integer", "minimum": 0, "maximum": 9, "default": 3}
    schema = {"type": "object", "properties": {"count": count}, "required": ["count"], "additionalProperties": False}
    return {"name": f"list_{name}", "description": f"Lists the {name} things", "inputSchema": schema}


def call(name, arguments):
    strict = sys.argv[1] == "some" and name == "list_first"
    if strict and (set(arguments) != {"count"} or arguments["count"] not in range(10)):
        return said("wrong arguments", isError=True)
    return said(f"three things of {name}")


serve("lists", [tool(name) for name in NAMES], call)
