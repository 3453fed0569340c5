"""Members in a store of documents. Weak: values of any type reach the matcher, so callers can send its operators."""

from mcp import Server, ToolError, options, string

opts = options()
server = Server("members", "1.0.4", strict=True)
MEMBERS = [
    {"email": "ada@club.example", "pin": "4821", "city": "Oslo", "plan": "gold", "points": 120},
    {"email": "ben@club.example", "pin": "9137", "city": "Rome", "plan": "basic", "points": 15},
    {"email": "eva@club.example", "pin": "2260", "city": "Oslo", "plan": "basic", "points": 60},
]
OPERATORS = {
    "$eq": lambda a, b: a == b, "$ne": lambda a, b: a != b, "$in": lambda a, b: a in b,
    "$gt": lambda a, b: type(a) is type(b) and a > b, "$lt": lambda a, b: type(a) is type(b) and a < b,
}


def matches(document, query):
    for field, wanted in query.items():
        conditions = wanted if isinstance(wanted, dict) else {"$eq": wanted}
        for operator, value in conditions.items():
            if operator not in OPERATORS or not OPERATORS[operator](document.get(field), value):
                return False
    return True


def find(query):
    return [member for member in MEMBERS if matches(member, query)]


def plain(**values):
    """Refuses anything but text, numbers included: they are not what the callers mean."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise ToolError(f"{name} must be a string")
    return values


@server.tool("list_plans", "List the plans.")
def list_plans():
    return {"plans": ["basic", "gold"]}


@server.tool("member_points", "Points of a member. The pin proves who asks.", {
    "email": string("E-mail address", examples=["ada@club.example"]),
    "pin": {"description": "Pin of the member", "examples": ["4821"]},
}, ["email", "pin"])
def member_points(email, pin):
    query = plain(email=email, pin=pin) if opts.fixed else {"email": email, "pin": pin}
    found = find(query)
    if not found:
        raise ToolError("Wrong e-mail address or pin")
    return {"points": found[0]["points"]}


@server.tool("count_members", "Count the members in a city with a plan.", {
    "filter": {"type": "object", "description": "What to count: city and plan", "examples": [{"city": "Oslo", "plan": "basic"}]},
}, ["filter"])
def count_members(filter):
    if opts.fixed:
        if set(filter) - {"city", "plan"}:
            raise ToolError("Only city and plan can be filtered by")
        plain(**filter)
    return {"count": len(find(filter))}


@server.tool("members_in", "Count the members in a city.", {"city": {"description": "City", "examples": ["Oslo"]}}, ["city"])
def members_in(city):
    return {"city": str(city), "count": len(find({"city": str(city)}))}


@server.tool("explain_filter", "Say a filter in words. Nothing is looked up.", {
    "filter": {"type": "object", "description": "Filter with $eq, $ne, $gt, $lt or $in", "examples": [{"points": {"$gt": 50}}]},
}, ["filter"])
def explain_filter(filter):
    return "members where " + " and ".join(f"{field} is {wanted}" for field, wanted in filter.items())


server.run(opts)
