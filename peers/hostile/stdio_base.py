"""What every mode over standard input and output is made of.

A mode is a function in MODES. Most misbehave when the tool is called and are honest before that, so that a
client is already at ease; the others say in their docstring when they turn bad.
"""

import json
import os
import sys
import time

from protocol import TOOL, answer, encode

MODES = {}


def mode(function):
    """Registers a mode under its name, with dashes."""
    MODES[function.__name__.strip("_").replace("_", "-")] = function
    return function


def run(name):
    """Runs a mode until it ends by itself or the client closes a pipe."""
    try:
        MODES[name]()
    except (BrokenPipeError, ConnectionResetError):
        # The client gave up, which is its right. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def write(data):
    """Writes bytes to standard output at once."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message):
    """Writes one message."""
    write(encode(message))


def requests():
    """Yields what the client sends; lines that are not JSON objects are passed over."""
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict):
            yield message


def serve(tools=(TOOL,), **handlers):
    """Answers honestly, except for the methods that have a handler, named with _ instead of /."""
    for request in requests():
        handler = handlers.get(str(request.get("method")).replace("/", "_"))
        if handler is not None:
            handler(request)
        else:
            reply = answer(request, tools)
            if reply is not None:
                send(reply)


def forever():
    """Blocks until the alarm or a signal."""
    while True:
        time.sleep(3600)
