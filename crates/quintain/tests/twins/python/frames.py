"""A server with its own reader of frames. Weak: it expects what well-behaved clients send, and ends on anything else."""

import json
import resource
import sys

from mcp import Server, integer, options, string

opts = options()
server = Server("frames", "0.5.0", strict=True)
careful = server.reply


def careless(line):
    """Syntax errors are answered. Deep nesting, huge numbers, bytes that are no text and frames that are no objects are not foreseen."""
    try:
        message = json.loads(line)
    except json.JSONDecodeError:
        print(json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}), flush=True)
        return
    if message.get("method") == "tools/call":
        print("call of " + message["params"]["name"], file=sys.stderr)
    careful(line)


if not opts.fixed:
    server.reply = careless
    # As in a small container: who asks for too much memory is ended.
    resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))


@server.tool("repeat_word", "Repeat a word.", {
    "word": string("Word", maxLength=50, examples=["hey"]), "times": integer("How often", minimum=1, maximum=20, examples=[2]),
}, ["word", "times"])
def repeat_word(word, times):
    return " ".join([word] * int(times))


@server.tool("make_table", "Make an empty table.", {
    "columns": integer("Columns", minimum=1, **({"maximum": 20} if opts.fixed else {}), examples=[3]),
}, ["columns"])
def make_table(columns):
    try:
        return "|" + " |" * int(columns)
    except (MemoryError, OverflowError):
        sys.exit("out of memory")


@server.tool("spell_word", "Spell a word; fails on anything but letters.", {"word": string("Word", maxLength=50, examples=["tree"])}, ["word"])
def spell_word(word):
    return "-".join(letter for letter in word if letter.isalpha() or int(letter))


server.run(opts)
