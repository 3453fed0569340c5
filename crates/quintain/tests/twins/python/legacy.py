"""Tools whose schemas were never written down: what they want, their refusals say. Weak: a shell, and paths."""

import json
import os
import subprocess

from mcp import Server, ToolError, options, seed

opts = options()
server = Server("legacy", "0.0.9")
seed(opts.root, {"pages/home.txt": "Welcome.\n", "pages/terms.txt": "Be kind.\n"})
ANY = {"type": "object"}


def wants(given, **fields):
    """Refuses as a validating library does: every field that is wrong, with the kind of the mistake."""
    wrong = []
    for name, kind in fields.items():
        if name not in given:
            wrong.append(f"{name}\n  Field required [type=missing, input_value={given!r}, input_type=dict]")
        elif isinstance(kind, tuple) and given[name] not in kind:
            listed = " or ".join(repr(one) for one in kind)
            wrong.append(f"{name}\n  Input should be {listed} [type=literal_error, input_value={given[name]!r}]")
        elif isinstance(kind, type) and type(given[name]) is not kind:
            word = {"str": "string", "int": "int"}[kind.__name__]
            wrong.append(f"{name}\n  Input should be a valid {word} [type={word}_type, input_value={given[name]!r}]")
    if wrong:
        raise ToolError(f"{len(wrong)} validation errors\n" + "\n".join(wrong))


@server.tool("convert_image", "Convert an image.", schema=ANY)
def convert_image(**given):
    wants(given, source=str, format=("png", "webp"), quality=int)
    words = ["echo", "converted", given["source"], "to", given["format"], "at", str(given["quality"])]
    command = words if opts.fixed else " ".join(words)
    done = subprocess.run(command, shell=not opts.fixed, cwd=opts.root, timeout=10, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip()


@server.tool("read_page", "Read a page of the handbook.", schema=ANY)
def read_page(**given):
    issues = [{"code": "invalid_type", "expected": "string", "received": "undefined", "path": [name], "message": "Required"}
              for name in ("page", "lang") if not isinstance(given.get(name), str)]
    if not issues and given["lang"] not in ("en", "no"):
        issues = [{"code": "invalid_enum_value", "options": ["en", "no"], "path": ["lang"], "message": "Invalid enum value"}]
    if issues:
        raise ToolError("Invalid arguments: " + json.dumps(issues))
    folder = os.path.join(opts.root, "pages")
    real = os.path.realpath(os.path.join(folder, given["page"]))
    if opts.fixed and os.path.commonpath([real, folder]) != folder:
        raise ToolError("Access denied")
    try:
        with open(real, encoding="utf-8") as file:
            return file.read(10_000)
    except (OSError, ValueError):
        raise ToolError("There is no such page. Available pages: home.txt, terms.txt") from None


@server.tool("plan_conversion", "Show how an image would be converted.", schema=ANY)
def plan_conversion(**given):
    wants(given, source=str, format=("png", "webp"))
    return f"Would run: convert {given['source']} {given['format']}"


server.run(opts)
