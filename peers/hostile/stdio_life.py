"""Modes that fail before the call, list without end, or misbehave as processes."""

import os
import signal
import sys
import threading
import time

from protocol import TOOL, answer, called, notification, result
from stdio_base import forever, mode, requests, send, serve, write

# Wrong before the call.


@mode
def dies_at_start():
    """Dies before initialize, with a message on standard error and exit code 3."""
    print("hostile: cannot open database: no such file", file=sys.stderr, flush=True)
    os._exit(3)


@mode
def silent_at_start():
    """Reads everything and never says a word."""
    for _ in requests():
        pass


@mode
def never_reads():
    """Never reads its standard input and never says a word."""
    forever()


@mode
def wrong_types():
    """Answers initialize with wrong types everywhere."""

    def initialize(request):
        send(result(request, {"protocolVersion": 7, "capabilities": "all", "serverInfo": ["hostile"]}))

    serve(initialize=initialize)


@mode
def wrong_version():
    """Answers initialize with a protocol version that does not exist."""

    def initialize(request):
        honest = answer(request)
        honest["result"]["protocolVersion"] = "1999-01-01"
        send(honest)

    serve(initialize=initialize)


@mode
def never_pongs():
    """Answers everything but a ping."""
    serve(ping=lambda request: None)


# Wrong lists.


@mode
def endless_pages_same_cursor():
    """Lists tools with the same next cursor for ever."""

    def tools(request):
        send(result(request, {"tools": [TOOL], "nextCursor": "again"}))

    serve(tools_list=tools)


@mode
def endless_pages_new_cursors():
    """Lists tools with a new next cursor for ever."""
    count = 0

    def tools(request):
        nonlocal count
        count += 1
        tool = {**TOOL, "name": f"poke-{count}"}
        send(result(request, {"tools": [tool], "nextCursor": f"page-{count}"}))

    serve(tools_list=tools)


@mode
def huge_list():
    """Lists 50,000 tools on one page."""
    serve(tools=[{**TOOL, "name": f"poke-{number}"} for number in range(50_000)])


@mode
def not_tools():
    """Lists things that are no tools."""
    serve(tools=(None, 7, [], {}, {"name": 5}, {"name": "poke", "inputSchema": "object"}, {"name": "poke"}))


@mode
def list_is_text():
    """Answers tools/list with a text instead of a list."""
    serve(tools_list=lambda request: send(result(request, {"tools": "none"})))


@mode
def result_is_text():
    """Answers a call with a text instead of an object."""
    serve(tools_call=lambda request: send(result(request, "ok")))


@mode
def error_flag_is_text():
    """Answers a call with the text "true" as `isError`."""
    content = [{"type": "text", "text": "denied"}]
    serve(tools_call=lambda request: send(result(request, {"content": content, "isError": "true"})))


def with_schema(text_schema):
    """Serves one tool whose argument has the given schema."""
    schema = {**TOOL["inputSchema"], "properties": {"text": text_schema}}
    serve(tools=({**TOOL, "inputSchema": schema},))


@mode
def regex_bomb_schema():
    """Lists a schema whose pattern needs exponential time in a backtracking engine."""
    with_schema({"type": "string", "pattern": "^(a+)+$", "examples": ["a" * 40 + "!"]})


@mode
def remote_ref_schema():
    """Lists a schema with references to a URL and to a file."""
    addresses = ("http://127.0.0.1:9/schema.json", "file:///etc/passwd")
    with_schema({"anyOf": [{"$ref": address} for address in addresses]})


@mode
def recursive_schema():
    """Lists a schema that contains itself without end."""
    with_schema({"$ref": "#/properties/text"})


# Wrong processes.


@mode
def dies_in_call():
    """Dies in the middle of its answer, exit code 7."""

    def call(_request):
        write(b'{"jsonrpc":"2.0","id":')
        print("hostile: out of memory", file=sys.stderr, flush=True)
        os._exit(7)

    serve(tools_call=call)


@mode
def grandchild_holds_pipe():
    """Leaves a grandchild that keeps standard output open, and exits without an answer."""

    def call(_request):
        if os.fork() == 0:
            # An alarm is not inherited, and the grandchild must not stay for good either.
            signal.alarm(int(os.environ.get("HOSTILE_LIFE", "120")))
            forever()
        os._exit(0)

    serve(tools_call=call)


@mode
def stderr_flood():
    """Writes 64 MB to standard error before it answers, and stops if nobody reads them."""

    def call(request):
        block = ("complaint " * 100 + "\n") * 64
        for _ in range(1000):
            sys.stderr.write(block)
        sys.stderr.flush()
        send(called(request))

    serve(tools_call=call)


@mode
def closes_stdout():
    """Closes standard output when called and stays alive."""

    def call(_request):
        os.close(1)
        forever()

    serve(tools_call=call)


@mode
def ignores_sigterm():
    """Answers well, but ignores SIGTERM, SIGINT, SIGHUP and the end of its input."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    serve()
    forever()


@mode
def babbles_after_the_end():
    """Answers well and writes notifications all the time from a second thread."""

    def babble():
        try:
            while True:
                send(notification("notifications/tools/list_changed"))
                time.sleep(0.001)
        except (BrokenPipeError, ValueError):
            pass

    threading.Thread(target=babble, daemon=True).start()
    serve()
