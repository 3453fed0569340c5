"""Tables of a restaurant. Weak: the schema is for show, the handlers take what comes."""

from mcp import Server, ToolError, integer, obj, options, string

opts = options()
server = Server("booking", "1.0.9", strict=opts.fixed)
BOOKINGS = []


@server.tool("book_table", "Book a table.", {
    "name": string("Name of the guest", minLength=1, maxLength=40, pattern="^[A-Za-z ]+$", examples=["Ada"]),
    "guests": integer("How many guests", minimum=1, maximum=12, examples=[2]),
    "date": string("Day", format="date", pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", examples=["2030-05-01"]),
    "area": string("Where", enum=["inside", "terrace"], default="inside"),
}, ["name", "guests", "date"])
def book_table(name=None, guests=None, date=None, area="inside", **_):
    BOOKINGS.append((name, guests, date, area))
    return {"booking": f"B-{len(BOOKINGS)}", "state": "confirmed"}


@server.tool("order_menu", "Order menus for a booking.", {
    "menus": {"type": "array", "minItems": 1, "maxItems": 5, "items": obj({
        "dish": string("Dish", enum=["soup", "fish"]), "count": integer("How many", minimum=1, maximum=20)}, ["dish", "count"])},
}, ["menus"])
def order_menu(menus=(), **_):
    return {"state": "ordered", "positions": len(menus) if isinstance(menus, (list, tuple)) else 1}


@server.tool("cancel_booking", "Cancel a booking.", {"booking": string("Number of the booking", pattern="^B-[0-9]+$", examples=["B-1"])}, ["booking"])
def cancel_booking(booking=None, **more):
    # Looks for itself, so that it is right without the schema too.
    if more or not isinstance(booking, str) or not booking.startswith("B-") or not booking[2:].isdecimal():
        raise ToolError(f"Not the number of a booking: {booking}")
    return {"booking": booking, "state": "cancelled"}


@server.tool("opening_hours", "When the kitchen is open. Other arguments are ignored, as the schema says.",
             schema={"type": "object", "properties": {}, "additionalProperties": True})
def opening_hours(**_):
    return "12 to 22."


server.run(opts)
