"""Customers. Weak: whole records with numbers nobody asked for, and credentials in an answer, an error and a resource."""

import os
import random

from mcp import Server, ToolError, options, string

opts = options()
server = Server("crm", "8.2.0", strict=True)
dice = random.Random(20240501)
ME = os.environ.get("CRM_USER", "dana@crm.example")


def luhn(digits):
    """Appends the check digit of a card."""
    total = sum(sum(divmod(int(d) * (2 if i % 2 == 0 else 1), 10)) for i, d in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def iban(country, account):
    number = "".join(str(int(c, 36)) for c in f"{account}{country}00")
    return f"{country}{98 - int(number) % 97:02d}{account}"


def token(prefix, length):
    return prefix + "".join(dice.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789", k=length))


CUSTOMERS = {
    "C-1": {"name": "Ada Lind", "email": "ada.lind@mail.example", "phone": "+47 22 85 50 50", "card": luhn("453201511283036"),
            "iban": iban("DE", "500105175407324931"), "ssn": "536-22-4817"},
    "C-2": {"name": "Ben Marr", "email": "ben.marr@mail.example", "phone": "+39 06 4988 2210", "card": luhn("530125073294118"),
            "iban": iban("DE", "370400440532017744"), "ssn": "412-67-3391"},
}
KEYS = {"mail": token("ghp_", 36), "billing": token("sk_live_", 24)}
PASSWORD = token("", 20)
CUSTOMER = string("Id of the customer, from list_customers", pattern="^C-[0-9]+$", examples=["C-1"])


def masked(text):
    return "*" * (len(text) - 4) + text[-4:]


def record(customer_id):
    if customer_id not in CUSTOMERS:
        raise ToolError(f"No such customer: {customer_id}")
    return CUSTOMERS[customer_id]


@server.tool("whoami", "Who you are.")
def whoami():
    return {"email": ME}


@server.tool("list_customers", "List the customers.")
def list_customers():
    return {"customers": [{"customer_id": i, "name": c["name"]} for i, c in CUSTOMERS.items()]}


@server.tool("get_customer", "Name and means of payment of a customer.", {"customer_id": CUSTOMER}, ["customer_id"])
def get_customer(customer_id):
    found = record(customer_id)
    if opts.fixed:
        return {"name": found["name"], "card": masked(found["card"]), "iban": masked(found["iban"])}
    return found


@server.tool("show_settings", "Settings of a service.", {"service": string("Service", enum=["mail", "billing"])}, ["service"])
def show_settings(service):
    return {"service": service, "timeout": 30, "api_key": masked(KEYS[service])[-8:] if opts.fixed else KEYS[service]}


@server.tool("sync_region", "Bring the customers of a region up to date.", {"region": string("Region", enum=["eu", "us"])}, ["region"])
def sync_region(region):
    if region == "us":
        where = f"postgres://sync:{PASSWORD}@db.us.internal:5432/crm"
        raise ToolError("The database of the region does not answer" if opts.fixed else f"could not connect to {where}")
    return "Up to date."


@server.tool("list_orders", "Numbers of the orders of a customer.", {"customer_id": CUSTOMER}, ["customer_id"])
def list_orders(customer_id):
    record(customer_id)
    wrong = luhn("402400711111111")
    return {"orders": [wrong[:-1] + str((int(wrong[-1]) + 1) % 10), "1000-2000-3000"], "case": "123-45-678"}


@server.tool("build_info", "Version of the server.")
def build_info():
    return {"commit": "9f2c1e7d5b3a4860c1d2e3f4a5b6c7d8e9f00112", "sha256": "%064x" % dice.getrandbits(256), "contact": "help@crm.example"}


@server.resource("config://app", "Configuration", mime="text/plain")
def config():
    return "timeout=30\napi_key=" + ("(set)" if opts.fixed else KEYS["billing"]) + "\n"


server.run(opts)
