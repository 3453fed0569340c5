"""Messages from templates. Weak: expressions in {{ }} are evaluated, str.format reaches attributes."""

import re

from mcp import Server, ToolError, obj, options, string

opts = options()
server = Server("mailer", "3.3.1", strict=True)
SETTINGS = {"sender": "desk@mail.example", "batch": 50}
CUSTOMER = obj({"name": string("Name", examples=["Ada"]), "city": string("City", examples=["Oslo"])}, ["name", "city"])


class Customer:
    def __init__(self, name, city):
        self.name, self.city = name, city


def fill(template, values):
    """Puts values in place of {{ name }}."""
    def put(found):
        expression = found.group(1).strip()
        if not opts.fixed:
            return str(eval(expression, {"__builtins__": {}}, values))
        if expression not in values:
            raise ToolError(f"Unknown name in the template: {expression}")
        return values[expression]
    try:
        return re.sub(r"\{\{([^{}]*)\}\}", put, template)
    except ToolError:
        raise
    except Exception:
        raise ToolError("The template cannot be filled") from None


@server.tool("list_names", "The names that a template can use.")
def list_names():
    return {"names": ["name", "city"]}


@server.tool("render_message", "Fill a template such as 'Dear {{ name }}'.", {
    "template": string("Template", maxLength=1000, examples=["Dear {{ name }} in {{ city }}"]), "customer": CUSTOMER,
}, ["template", "customer"])
def render_message(template, customer):
    return fill(template, customer)


@server.tool("render_subject", "Fill a subject such as 'News for {customer.name}'.", {
    "subject": string("Subject; {customer.name} and {customer.city} are known", maxLength=200, examples=["News for {customer.name}"]),
    "customer": CUSTOMER,
}, ["subject", "customer"])
def render_subject(subject, customer):
    if opts.fixed:
        for name in ("name", "city"):
            subject = subject.replace("{customer." + name + "}", customer[name])
        return subject
    try:
        return subject.format(customer=Customer(**customer))
    except Exception:
        raise ToolError("The subject cannot be filled") from None


@server.tool("preview_plain", "Show a text as it will be sent, without filling anything in.",
             {"text": string("Text", examples=["Dear {{ name }}"])}, ["text"])
def preview_plain(text):
    return f"--\n{text}\n--"


@server.tool("check_template", "Tell whether a template uses only known names.",
             {"template": string("Template", examples=["Hello {{ name }}"])}, ["template"])
def check_template(template):
    for expression in re.findall(r"\{\{([^{}]*)\}\}", template):
        if expression.strip() not in ("name", "city"):
            raise ToolError(f"TemplateError: cannot evaluate '{expression.strip()}'")
    return "Only known names."


@server.prompt("write_reply", "Ask for a reply to a customer.", {"greeting": "First line; {{ name }} stands for the customer"})
def write_reply(greeting):
    return "Write a reply that begins with: " + fill(greeting, {"name": "Ada", "city": "Oslo"})


server.run(opts)
