#!/usr/bin/env python3
"""Becomes an HTTP server that takes its port from PORT, and prints where it is once it listens.

    serve.py COMMAND [ARGUMENT...]

The first line of output is {"url": ..., "sse": ...}; what the server itself prints is thrown away.
"""

import json
import os
import socket
import sys
import time

PATIENCE = 60


def free_port():
    """A port that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def announce(port):
    """Waits until the port takes connections, then prints the addresses."""
    for _ in range(PATIENCE * 20):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            origin = f"http://127.0.0.1:{port}"
            print(json.dumps({"url": f"{origin}/mcp", "sse": f"{origin}/sse"}), flush=True)
            return


def main(command):
    """The parent becomes the server, so that whoever ends this process ends the server."""
    port = free_port()
    if os.fork() == 0:
        announce(port)
        os._exit(0)
    os.environ["PORT"] = str(port)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
