"""Prints the reference of the package, in Markdown, from the annotations and docstrings of its sources. Imports none of them."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent / "quintain"
#: Module, file, and what its section is about.
SECTIONS = [
    ("quintain", ["evaluation.py"], "Evaluation"),
    ("quintain.test_case", ["test_case/cases.py", "test_case/mcp.py", "test_case/params.py"], "Test cases"),
    ("quintain.metrics", ["metrics/base.py", "metrics/__init__.py"], "Metrics"),
    ("quintain.models", ["models.py"], "Judges"),
    ("quintain", ["results.py"], "Results"),
    ("quintain.dataset", ["dataset.py"], "Data sets"),
    ("quintain.evaluate", ["_configs.py"], "Configurations"),
    ("quintain", ["suite.py"], "Suites and attacks"),
    ("quintain", ["client.py"], "Sessions"),
    ("quintain", ["recording.py", "convert.py"], "Capture"),
    ("quintain", ["_quintain.pyi"], "Exceptions"),
]
HEAD = """\
# Python package

Generated from the annotations of the package by `cargo xtask docs`; do not edit. The tutorial is
[From deepeval to Quintain in ten minutes](../tutorials/from-deepeval.md).
"""


def main() -> None:
    print(HEAD)
    for module, files, title in SECTIONS:
        print(f"## {title}\n\n`{module}`\n")
        for name in files:
            tree = ast.parse((PACKAGE / name).read_text("utf-8"))
            exported = names(tree)
            for node in tree.body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                    if node.name in exported and (not name.endswith(".pyi") or node.name.endswith("Error")):
                        print(described(node))
                elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                    target = ast.unparse(node.targets[0])
                    if target in exported:
                        print(f"### {target}\n\nAnother name of `{node.value.id}`.\n")
    print(PLUGIN)


def names(tree: ast.Module) -> set[str]:
    """What a module exports."""
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and target.id == "__all__":
                return set(ast.literal_eval(node.value))
    return {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")}


def described(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    parts = [f"### {node.name}\n"]
    if not isinstance(node, ast.ClassDef):
        parts.append(f"```python\n{signature(node)}\n```\n")
        return "\n".join([*parts, documentation(node)])
    bases = ", ".join(ast.unparse(base) for base in node.bases if ast.unparse(base) not in ("Record", "_HasCalls"))
    fields, methods = [], []
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and not ast.unparse(item.target).startswith("_"):
            fields.append(f"    {field(item)}")
        elif isinstance(item, ast.Assign) and any(base in bases for base in ("Enum",)):
            fields.append(f"    {ast.unparse(item)}")
        elif isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and (not item.name.startswith("_") or item.name == "__init__"):
            methods.append(item)
    body = [line for line in fields if not line.startswith("    id: ClassVar")]
    body += [f"    {line}" for method in methods for line in signature(method).splitlines()]
    head = f"class {node.name}({bases})" if bases else f"class {node.name}"
    listed = "\n".join([f"{head}:", *body]) if body else head
    parts.append(f"```python\n{listed}\n```\n")
    parts.append(documentation(node))
    for method in methods:
        text = ast.get_docstring(method)
        if text:
            is_property = any(ast.unparse(decorator) == "property" for decorator in method.decorator_list)
            parts.append(f"- `{method.name}{'' if is_property else '()'}`: " + " ".join(text.split()))
    if parts[-1].startswith("- "):
        parts.append("")
    return "\n".join(parts)


def field(item: ast.AnnAssign) -> str:
    default = item.value
    if isinstance(default, ast.Call) and ast.unparse(default.func) == "field":
        found = {word.arg: word.value for word in default.keywords}
        default = found.get("default") or found.get("default_factory")
        if isinstance(default, ast.Name):
            default = ast.Call(default, [], [])
    text = f"{ast.unparse(item.target)}: {ast.unparse(item.annotation)}"
    return text if default is None else f"{text} = {ast.unparse(default)}"


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The head of a function, wrapped where it is long."""
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    arguments = ast.unparse(node.args)
    returns = "" if node.returns is None or node.name == "__init__" else f" -> {ast.unparse(node.returns)}"
    decorators = [f"@{ast.unparse(item)}\n" for item in node.decorator_list if ast.unparse(item) in ("property", "classmethod")]
    line = f"{kind} {node.name}({arguments}){returns}"
    if len(line) > 120:
        line = f"{kind} {node.name}(\n    " + ",\n    ".join(split(arguments)) + f",\n){returns}"
    return "".join(decorators) + line


def split(arguments: str) -> list[str]:
    """Arguments at the commas outside of brackets."""
    found, depth, part = [], 0, ""
    for char in arguments:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            found.append(part.strip())
            part = ""
        else:
            part += char
    return [*found, part.strip()]


def documentation(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    text = ast.get_docstring(node)
    return f"{text}\n" if text else ""


def plugin() -> str:
    """The options and fixtures of the pytest plugin."""
    tree = ast.parse((PACKAGE / "pytest_plugin.py").read_text("utf-8"))
    options, fixtures = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "group.addoption":
            words = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg in ("metavar", "help")}
            name = ast.literal_eval(node.args[0])
            options.append(f"| `{name}{' ' + words['metavar'] if 'metavar' in words else ''}` | {words['help']} |".replace("COMMAND|URL", "COMMAND\\|URL"))
        elif isinstance(node, ast.FunctionDef) and any("fixture" in ast.unparse(item) for item in node.decorator_list):
            fixtures.append(f"| `{node.name}` | {' '.join((ast.get_docstring(node) or '').split())} |")
    lines = ["## pytest plugin", "", "Suites named `quintain.yaml` and `test_*.quintain.yaml` are collected as test items.", ""]
    lines += ["| fixture | |", "|---|---|", *fixtures, "", "| option | |", "|---|---|", *options]
    return "\n".join(lines)


PLUGIN = plugin()

if __name__ == "__main__":
    main()
