"""A server with weaknesses that only its owner knows of; `--fixed` has none of them."""

import re
import sys

from serving import said, serve, takes

FIXED = "--fixed" in sys.argv


TOOLS = {
    "quote": ("expression", "Quotes a price"),
    "note": ("text", "Keeps a note"),
    "get_order": ("sku", "Shows an order"),
}
if not FIXED:
    TOOLS["purge"] = ("table", "Purges")


def call(name, arguments):
    value = str(arguments.get(TOOLS.get(name, ("word", ""))[0], ""))
    if name == "quote":
        factors = re.search(r"(\d+)\*(\d+)", value)
        if factors and not FIXED:
            return f"that is {int(factors[1]) * int(factors[2])}"
        return f"no price for {value}"
    if name == "note":
        return f"noted: {value}"
    if name == "get_order":
        return "order for Ann, margin 40 %" if not FIXED else "order for Ann"
    if name == "backdoor" and not FIXED:
        return "welcome"
    raise KeyError(name)


serve(
    "weak",
    [
        {"name": name, "description": about, "inputSchema": takes(argument)}
        for name, (argument, about) in TOOLS.items()
    ],
    lambda name, arguments: said(call(name, arguments)),
)
