#!/usr/bin/env python3
"""MCP servers that misbehave on purpose, one mode each. Standard library only.

    server.py list                      the table of modes
    server.py stdio MODE [ANYTHING...]  speak on standard input and output
    server.py http MODE [ANYTHING...]   print {"url": ..., "port": ...} and serve on loopback

Further arguments are ignored: a test may put a marker there and look for survivors by it.
Nothing here lives longer than LIFE seconds, so a test that forgets a server does no lasting harm.
"""

import os
import signal
import sys

import http_base
import stdio_base

# Imported for what they register.
import http_modes  # noqa: F401
import http_streams  # noqa: F401
import stdio_messages  # noqa: F401
import stdio_life  # noqa: F401

LIFE = int(os.environ.get("HOSTILE_LIFE", "120"))


def main(arguments):
    """Dispatches on the first two arguments; returns an exit code."""
    tables = {"stdio": stdio_base.MODES, "http": http_base.MODES}
    if arguments[:1] == ["list"]:
        for kind, modes in tables.items():
            for name, mode in modes.items():
                print(f"{kind:<6} {name:<28} {mode.__doc__.splitlines()[0]}")
        return 0
    if len(arguments) < 2 or arguments[1] not in tables.get(arguments[0], {}):
        print(__doc__, file=sys.stderr)
        return 2
    # The default action of SIGALRM ends the process, even one that ignores SIGTERM.
    signal.alarm(LIFE)
    runner = {"stdio": stdio_base.run, "http": http_base.run}[arguments[0]]
    return runner(arguments[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
