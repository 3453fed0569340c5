"""A server for the own machine over HTTP, without tokens. Weak: any Host, any Origin, and a header that says where to fetch from."""

import urllib.error
import urllib.request

from mcp import Server, options, string

opts = options(http=True)
server = Server("local", "0.1.7", strict=True)
server.check_host = server.check_origin = opts.fixed
TASKS = ["water the plants", "call the bank"]


@server.tool("list_tasks", "List the tasks.")
def list_tasks():
    return {"tasks": TASKS}


@server.tool("count_tasks", "Count the tasks with a word.", {"word": string("Word", examples=["call"])}, ["word"])
def count_tasks(word):
    return {"count": sum(word in task for task in TASKS)}


@server.tool("show_icon", "Show the icon of this server.")
def show_icon():
    # Behind a proxy the icon is below the public name; the fixed server knows its place instead of asking the caller.
    host = None if opts.fixed else server.headers.get("X-Forwarded-Host")
    if host:
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            opener.open(f"http://{host}/icon.txt", timeout=5).close()
        except (OSError, ValueError):
            pass
    return "(icon)"


server.run(opts)
