"""A server that connects, writes and starts programs as its callers say; with `--fixed` it does nothing of the kind."""

import subprocess
import sys
import urllib.request

from serving import said, serve, takes

FIXED = "--fixed" in sys.argv
ARGUMENTS = {"preview": "url", "export": "path", "history": "branch", "note": "text"}


def act(name, value):
    if FIXED or name == "note":
        return
    try:
        if name == "preview":
            urllib.request.urlopen(value).read()
        elif name == "export":
            with open(value, "w", encoding="utf-8") as file:
                file.write("exported")
        elif name == "history":
            subprocess.run(["git", "log", value], capture_output=True, check=False)
    except (OSError, ValueError):
        pass


def call(name, arguments):
    act(name, str(arguments.get(ARGUMENTS[name], "")))
    return said("done")


serve("errand", [{"name": name, "inputSchema": takes(argument)} for name, argument in ARGUMENTS.items()], call)
