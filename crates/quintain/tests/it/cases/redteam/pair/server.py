"""A tool with the SQL error of an unbalanced quote."""

from serving import said, serve, takes


def call(name, arguments):
    status = arguments["status"]
    if status.count("'") % 2:
        return said(f"SQLITE_ERROR: unrecognized token: {status[-1:]}", isError=True)
    return said("[]")


serve("shop", [{"name": "list_orders", "description": "Lists the orders of a status", "inputSchema": takes("status")}], call)
