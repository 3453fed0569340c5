"""A help desk with roles; the token in DESK_TOKEN says which. Weak: roles decide what is listed, not what may be called."""

import os
import sys

from mcp import RpcError, Server, ToolError, options, string

ROLES = ["viewer", "agent", "admin"]
TOKENS = {"tok-admin-77aa": "admin", "tok-agent-31bb": "agent", "tok-viewer-09cc": "viewer"}
opts = options()
server = Server("desk", "6.1.0", strict=True)
server.enforce_visible = opts.fixed
ROLE = TOKENS.get(os.environ.get("DESK_TOKEN", ""))
if ROLE is None:
    sys.exit("DESK_TOKEN is not known")
TICKETS = {"T-100": {"title": "Printer", "agent": "eva"}, "T-101": {"title": "Login", "agent": "max"}}
USERS = {"eva": "agent", "max": "agent", "root": "admin", "ida": "viewer"}
SETTINGS = {"greeting": "on"}
TICKET = string("Id of a ticket, from list_tickets", pattern="^T-[0-9]+$", examples=["T-100"])


def at_least(role):
    return ROLES.index(ROLE) >= ROLES.index(role)


def demand(role):
    if not at_least(role):
        raise ToolError(f"Forbidden: this needs the role {role}")


def unknown_tool(name):
    if opts.fixed:
        raise RpcError(-32602, "Unknown tool")
    raise RpcError(-32602, f"Unknown tool '{name}'. Tools: {', '.join(server.tools)}")


server.unknown_tool = unknown_tool


@server.tool("whoami", "Your role.")
def whoami():
    return {"role": ROLE}


@server.tool("list_tickets", "List the tickets.")
def list_tickets():
    return {"tickets": [{"ticket_id": i, **t} for i, t in TICKETS.items()]}


@server.tool("get_ticket", "Show a ticket.", {"ticket_id": TICKET}, ["ticket_id"])
def get_ticket(ticket_id):
    if ticket_id not in TICKETS:
        raise ToolError(f"No such ticket: {ticket_id}")
    return {"ticket_id": ticket_id, **TICKETS[ticket_id]}


@server.tool("reassign_ticket", "Give a ticket to another agent. For agents.",
             {"ticket_id": TICKET, "agent": string("Agent", enum=["eva", "max"])}, ["ticket_id", "agent"])
def reassign_ticket(ticket_id, agent):
    if opts.fixed:
        demand("agent")
    get_ticket(ticket_id)
    TICKETS[ticket_id]["agent"] = agent
    return get_ticket(ticket_id)


@server.tool("set_user_role", "Change the role of a user. For administrators.",
             {"user": string("User", enum=sorted(USERS)), "role": string("New role", enum=ROLES)}, ["user", "role"])
def set_user_role(user, role):
    if opts.fixed:
        demand("admin")
    USERS[user] = role
    return {"user": user, "role": role}


@server.tool("change_setting", "Turn the greeting on or off. For administrators.", {
    "value": string("New value", enum=["on", "off"]),
    "acting_role": string("Role of the caller", enum=ROLES, default="viewer"),
}, ["value"])
def change_setting(value, acting_role="viewer"):
    # The fixed server still takes the argument of older clients, but does not believe it.
    if opts.fixed:
        demand("admin")
    elif acting_role != "admin" and not at_least("admin"):
        raise ToolError("Forbidden: this needs the role admin")
    SETTINGS["greeting"] = value
    return dict(SETTINGS)


@server.tool("archive_ticket", "Tell whether a ticket may be archived. For agents.", {"ticket_id": TICKET}, ["ticket_id"])
def archive_ticket(ticket_id):
    demand("agent")
    return f"{ticket_id} may be archived."


@server.tool("export_users", "Export all users with their roles. For administrators.", visible=lambda: at_least("admin"))
def export_users():
    return {"users": [{"user": u, "role": r} for u, r in USERS.items()]}


server.run(opts)
