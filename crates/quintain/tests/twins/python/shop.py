"""A shop on SQLite. Weak: SQL by string formatting in every position a value can have."""

import sqlite3

from mcp import Server, ToolError, integer, options, string

opts = options()
server = Server("shop", "5.0.2", strict=True)
db = sqlite3.connect(":memory:", isolation_level=None)
db.executescript("""
    CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, stock INTEGER, hidden INTEGER);
    INSERT INTO products VALUES (1, 'Lamp', 30, 4, 0), (2, 'Chair', 80, 9, 0), (3, 'Lantern', 55, 1, 0), (4, 'Prototype', 999, 1, 1);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, product TEXT, state TEXT);
    INSERT INTO orders VALUES (101, 'Lamp', 'sent'), (102, 'Chair', 'packed'), (103, 'Lantern', 'open');
    CREATE TABLE coupons (code TEXT);
    INSERT INTO coupons VALUES ('SPRING'), ('WELCOME');
    CREATE TABLE customers (email TEXT, city TEXT);
    INSERT INTO customers VALUES ('ada@shop.example', 'Oslo'), ('ben@shop.example', 'Rome');
    CREATE TABLE reviews (product INTEGER, comment TEXT);
    CREATE TABLE faq (question TEXT, answer TEXT);
    INSERT INTO faq VALUES ('How do I pay?', 'By card.'), ('Who delivers?', 'The post.');
""")
sales = sqlite3.connect(":memory:")
sales.executescript("CREATE TABLE sales (month TEXT, total INTEGER); INSERT INTO sales VALUES ('May', 12), ('June', 15);")


def reading(action, name, function, *_):
    """Allows to select from the tables with the usual aggregates, and nothing else."""
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if function in ("sum", "count", "avg", "min", "max") else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ) else sqlite3.SQLITE_DENY


sales.set_authorizer(reading)


def rows(sql, *values):
    try:
        return db.execute(sql, values).fetchall()
    except sqlite3.Error:
        raise ToolError("The request failed") from None


@server.tool("search_products", "Find products by a part of their name.", {
    "text": string("Part of the name", examples=["La"]), "limit": integer("How many", minimum=1, maximum=50, default=10),
}, ["text"])
def search_products(text, limit=10):
    if opts.fixed:
        found = rows("SELECT name, price FROM products WHERE hidden = 0 AND name LIKE ? LIMIT ?", f"%{text}%", int(limit))
    else:
        found = rows(f"SELECT name, price FROM products WHERE hidden = 0 AND name LIKE '%{text}%' LIMIT {int(limit)}")
    return {"products": [{"name": name, "price": price} for name, price in found]}


@server.tool("list_products", "List the products in some order.", {
    "sort_by": string("Column: name, price or stock", examples=["price"]),
    "direction": string("Direction", enum=["asc", "desc"], default="asc"),
}, ["sort_by"])
def list_products(sort_by, direction="asc"):
    if opts.fixed and sort_by not in ("name", "price", "stock"):
        raise ToolError(f"Cannot sort by {sort_by}")
    return {"products": [r[0] for r in rows(f"SELECT name FROM products WHERE hidden = 0 ORDER BY {sort_by} {direction}")]}


@server.tool("get_order", "State of an order.", {"order_id": string("Number of the order", examples=["101"])}, ["order_id"])
def get_order(order_id):
    if opts.fixed:
        if not order_id.isdecimal():
            raise ToolError(f"Not the number of an order: {order_id}")
        found = rows("SELECT id, product, state FROM orders WHERE id = ?", int(order_id))
    else:
        found = rows(f"SELECT id, product, state FROM orders WHERE id = {order_id}")
    if not found:
        raise ToolError("No such order")
    return {"orders": [dict(zip(("id", "product", "state"), row)) for row in found]}


@server.tool("check_coupon", "Tell whether a coupon is valid.", {"code": string("Code of the coupon", examples=["SPRING"])}, ["code"])
def check_coupon(code):
    try:
        if opts.fixed:
            found = rows("SELECT 1 FROM coupons WHERE code = ?", code)
        else:
            found = rows(f"SELECT 1 FROM coupons WHERE code = '{code}'")
    except ToolError:
        found = []
    return {"valid": bool(found)}


@server.tool("find_customer", "City of a customer.",
             {"customer": {"type": "object", "additionalProperties": False, "required": ["email"], "properties": {
                 "email": string("E-mail address", examples=["ada@shop.example"])}}}, ["customer"])
def find_customer(customer):
    if opts.fixed:
        found = rows("SELECT city FROM customers WHERE email = ?", customer["email"])
    else:
        sql = f"SELECT city FROM customers WHERE email = '{customer['email']}'"
        try:
            found = db.execute(sql).fetchall()
        except sqlite3.Error as error:
            raise ToolError(f"sqlite3.{type(error).__name__}: {error} [SQL: {sql}]") from None
    return {"cities": [row[0] for row in found]}


@server.tool("add_review", "Review a product.", {
    "product_id": integer("Number of the product", minimum=1, maximum=4, examples=[1]),
    "comment": string("What to say", maxLength=500, examples=["Good."]),
}, ["product_id", "comment"])
def add_review(product_id, comment):
    if opts.fixed:
        rows("INSERT INTO reviews VALUES (?, ?)", product_id, comment)
    else:
        try:
            db.executescript(f"INSERT INTO reviews VALUES ({product_id}, '{comment}');")
        except sqlite3.Error:
            pass
    return "Thank you."


@server.tool("search_faq", "Find answers; % and _ are wildcards.", {"text": string("Part of the question", examples=["pay"])}, ["text"])
def search_faq(text):
    return {"answers": [row[0] for row in rows("SELECT answer FROM faq WHERE question LIKE ?", f"%{text}%")]}


@server.tool("query_sales", "Run a read-only SQL query on the table sales (month, total).",
             {"sql": string("SELECT statement", examples=["SELECT month, total FROM sales"])}, ["sql"])
def query_sales(sql):
    try:
        return {"rows": sales.execute(sql).fetchmany(100)}
    except (sqlite3.Error, sqlite3.Warning):
        raise ToolError("The query failed") from None


@server.tool("reserve_name", "Tell whether a name of a product is free.", {"name": string("Name", examples=["Desk"])}, ["name"])
def reserve_name(name):
    if not name.replace(" ", "").isalnum():
        raise ToolError(f"near '{name}': syntax error: letters and digits only")
    return {"free": not rows("SELECT 1 FROM products WHERE name = ?", name)}


server.run(opts)
