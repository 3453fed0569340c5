"""A server for the own machine over HTTP, without tokens. Weak: any Host, any Origin, and headers that say where to fetch from."""

import urllib.error
import urllib.request

from mcp import Server, ToolError, options, string

opts = options(http=True)
server = Server("local", "0.1.7", strict=True)
server.check_host = server.check_origin = opts.fixed
DEPOTS = ["https://depot.example"]
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


def depot(path):
    """Asks the depot of the caller, if the request names one."""
    url, key = server.headers.get("X-Depot-Url"), server.headers.get("X-Depot-Key")
    if not url or not key:
        return "There are no parcels."
    # The fixed server asks those depots only that its owner knows.
    if opts.fixed and url not in DEPOTS:
        raise ToolError("This depot is not known")
    try:
        request = urllib.request.Request(f"{url}/api/{path}", headers={"Authorization": f"Bearer {key}"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.open(request, timeout=5).close()
    except (OSError, ValueError):
        raise ToolError("The depot cannot be reached") from None
    return "The depot was asked."


@server.tool("depot_parcels", "List the parcels of the depot.")
def depot_parcels():
    return depot("parcels")


@server.tool("depot_vans", "List the vans of the depot.")
def depot_vans():
    return depot("vans")


server.run(opts)
