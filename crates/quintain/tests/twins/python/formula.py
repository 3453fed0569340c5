"""Rules and settings. Weak: eval where a literal, a comparison or a label is meant. A calculator is not a weakness."""

import ast
import json
import operator

from mcp import Server, ToolError, obj, options, string

opts = options()
server = Server("formula", "1.2.0", strict=True)
STOCK = [{"name": "lamp", "price": 30, "amount": 4}, {"name": "chair", "price": 80, "amount": 9}]
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
COMPARE = {ast.Gt: operator.gt, ast.Lt: operator.lt, ast.GtE: operator.ge, ast.LtE: operator.le, ast.Eq: operator.eq}
BOUND = 10**12


def arithmetic(node):
    """The value of numbers joined by + - * /, and of nothing else."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float) and abs(node.value) < BOUND:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        value = ARITHMETIC[type(node.op)](arithmetic(node.left), arithmetic(node.right))
        if abs(value) < BOUND:
            return value
    raise ToolError("Only numbers and + - * / are allowed")


def comparison(node, row):
    """Whether a comparison of fields with numbers holds, and, or."""
    if isinstance(node, ast.BoolOp):
        join = all if isinstance(node.op, ast.And) else any
        return join(comparison(value, row) for value in node.values)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARE:
        left, right = node.left, node.comparators[0]
        if isinstance(left, ast.Name) and left.id in ("price", "amount") and isinstance(right, ast.Constant) and type(right.value) is int:
            return COMPARE[type(node.ops[0])](row[left.id], right.value)
    raise ToolError("A rule compares price or amount with a number")


def parsed(text):
    if len(text) > 200:
        raise ToolError("Too long")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError):
        raise ToolError(f"Not an expression: {text}") from None


@server.tool("calculate", "Calculate with numbers and + - * /.", {"expression": string("What to calculate", examples=["12 * 3"])}, ["expression"])
def calculate(expression):
    try:
        return {"value": arithmetic(parsed(expression))}
    except ZeroDivisionError:
        raise ToolError("Division by zero") from None


@server.tool("save_setting", "Set a setting; the value is a JSON literal.", {
    "key": string("Which setting", enum=["limit", "colours"]), "value": string("JSON literal", examples=["10", '["red"]']),
}, ["key", "value"])
def save_setting(key, value):
    try:
        parsed_value = json.loads(value) if opts.fixed else eval(value)
    except Exception:
        raise ToolError(f"Not a JSON literal: {value}") from None
    return f"{key} is now {parsed_value!r}"


@server.tool("apply_rule", "Names of the goods for which a rule holds.",
             {"rule": string("Rule about price and amount", examples=["price > 10 and amount < 5"])}, ["rule"])
def apply_rule(rule):
    if opts.fixed:
        tree = parsed(rule)
        return {"names": [row["name"] for row in STOCK if comparison(tree, row)]}
    try:
        return {"names": [row["name"] for row in STOCK if eval(rule, {}, row)]}
    except Exception:
        raise ToolError("The rule cannot be applied") from None


@server.tool("draw_chart", "Draw a chart as text.", {
    "year": {"type": "integer", "minimum": 2000, "maximum": 2100, "examples": [2024]},
    "series": {"type": "array", "minItems": 1, "maxItems": 5, "items": obj({
        "label": string("Label; {year} stands for the year", maxLength=200, examples=["Sales of {year}"]),
        "height": {"type": "integer", "minimum": 0, "maximum": 40},
    }, ["label", "height"])},
}, ["year", "series"])
def draw_chart(year, series):
    def label(text):
        if opts.fixed:
            return text.replace("{year}", str(year))
        try:
            return eval("f" + repr(text), {"year": year})
        except Exception:
            raise ToolError("A label cannot be drawn") from None
    return "\n".join(f"{label(s['label'])} {'#' * int(s['height'])}" for s in series)


@server.tool("explain_expression", "Explain an expression. It is not evaluated.",
             {"expression": string("Expression", examples=["2 * 3"])}, ["expression"])
def explain_expression(expression):
    return f"`{expression}` has {len(expression.split())} parts."


server.run(opts)
