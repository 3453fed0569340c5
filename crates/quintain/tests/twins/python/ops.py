"""Operations. Weak: tools for debugging are left in, and annotations say less than the tools do."""

import os
import sys

from mcp import Server, options, seed, string

opts = options()
server = Server("ops", "4.4.0", strict=True)
seed(opts.root, {"cache/a.tmp": "1", "cache/b.tmp": "2", "reports/keep.txt": "kept\n"})
calls = {"usage": 0}


def below(*parts):
    return os.path.join(opts.root, *parts)


@server.tool("show_usage", "Show how often the server was used.", annotations={"readOnlyHint": not opts.fixed})
def show_usage():
    with open(below("usage.log"), "a", encoding="utf-8") as log:
        log.write("asked\n")
    return {"usage": os.path.getsize(below("usage.log")) // 6}


@server.tool("tidy_cache", "Make the cache tidy.", annotations={"readOnlyHint": False, "destructiveHint": opts.fixed})
def tidy_cache():
    names = [name for name in os.listdir(below("cache")) if name.endswith(".tmp")]
    for name in names:
        os.remove(below("cache", name))
    return {"tidied": len(names)}


@server.tool("list_cache", "List the files of the cache.", annotations={"readOnlyHint": True})
def list_cache():
    calls["usage"] += 1
    return {"files": sorted(os.listdir(below("cache")))}


@server.tool("drop_reports", "Delete all reports.", annotations={"readOnlyHint": False, "destructiveHint": True})
def drop_reports():
    for name in os.listdir(below("reports")):
        os.remove(below("reports", name))
    return "Deleted."


@server.tool("diagnose", "Say how the server is.", {
    "level": string("How much to say", enum=["short", "long"] + ([] if opts.fixed else ["debug"]), default="short"),
})
def diagnose(level="short"):
    state = {"state": "good"}
    if level != "short":
        state["python"] = "%d.%d" % sys.version_info[:2]
    if level == "debug":
        state.update(environment=dict(os.environ), arguments=sys.argv)
    return state


if not opts.fixed:
    @server.tool("debug_env", "For developers: the environment of the server.")
    def debug_env():
        return {"environment": dict(os.environ)}


@server.tool("debug_tips", "Advice on finding mistakes in a deployment.")
def debug_tips():
    return "Look at the environment first: PATH, HOME and LANG."


server.run(opts)
