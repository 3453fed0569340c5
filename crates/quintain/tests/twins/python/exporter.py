"""Writes exports below a root. Weak: names leave the root, by dots, by a sibling, by a link, inside a bundle."""

import os
import re

from mcp import Server, ToolError, obj, options, seed, string

opts = options()
server = Server("exporter", "0.3.5", strict=True, instructions=f"Exports are kept below {opts.root} and nowhere else.")
ROOT = opts.root
seed(ROOT, {"exports/january.csv": "a,b\n1,2\n", "backups/.keep": ""})
CONTENT = string("What to write", maxLength=100_000, examples=["a,b\n1,2\n"])


def inside(path):
    real = os.path.realpath(os.path.join(ROOT, path))
    if os.path.commonpath([real, ROOT]) != ROOT:
        raise ToolError(f"Access denied: {path} is outside of the root")
    return real


def write(path, content, mode="w"):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode, encoding="utf-8") as file:
            file.write(content)
    except (OSError, ValueError):
        raise ToolError("The file cannot be written") from None
    return f"Wrote {len(content)} characters."


@server.tool("list_allowed_directories", "The directory that exports are written to.")
def list_allowed_directories():
    return {"directories": [ROOT]}


@server.tool("save_export", "Save an export as a CSV file.", {
    "filename": string("Name of the file", minLength=1, examples=["february.csv"]),
    "content": CONTENT,
}, ["filename", "content"])
def save_export(filename, content):
    return write(inside(os.path.join("exports", filename)) if opts.fixed else os.path.join(ROOT, "exports", filename), content)


@server.tool("save_backup", "Save a backup; the full path must be below the root.", {
    "path": string("Path below the root", minLength=1, examples=["backups/b1.csv"]),
    "content": CONTENT,
}, ["path", "content"])
def save_backup(path, content):
    real = os.path.realpath(os.path.join(ROOT, path))
    if not real.startswith(ROOT + os.sep if opts.fixed else ROOT):
        raise ToolError("Access denied")
    return write(real, content)


@server.tool("append_line", "Append a line to a file of the exports.", {
    "path": string("Path below the root", minLength=1, examples=["exports/january.csv"]),
    "line": string("Line to append", maxLength=500, examples=["3,4"]),
}, ["path", "line"])
def append_line(path, line):
    full = os.path.abspath(os.path.join(ROOT, path))
    if os.path.commonpath([full, ROOT]) != ROOT:
        raise ToolError(f"Access denied: {path}")
    return write(inside(path) if opts.fixed else full, line + "\n", "a")


@server.tool("import_bundle", "Write the files of a bundle.", {
    "bundle": obj({
        "title": string("Name of the bundle", examples=["may"]),
        "files": {"type": "array", "minItems": 1, "maxItems": 20, "items": obj({
            "name": string("Path inside the bundle", minLength=1, examples=["bundle/may.csv"]),
            "content": CONTENT,
        }, ["name", "content"])},
    }, ["files"]),
}, ["bundle"])
def import_bundle(bundle):
    for entry in bundle["files"]:
        write(inside(entry["name"]) if opts.fixed else os.path.join(ROOT, entry["name"]), entry["content"])
    return f"{len(bundle['files'])} files."


@server.tool("save_note", "Save a note; its file is named after the title.", {
    "title": string("Title of the note", minLength=1, examples=["To do"]), "content": CONTENT,
}, ["title", "content"])
def save_note(title, content):
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "note"
    write(os.path.join(ROOT, "notes", slug[:80] + ".txt"), content)
    return f"Saved '{title}' as {slug[:80]}.txt"


@server.tool("plan_export", "Say where an export would be saved. Nothing is written.",
             {"filename": string("Name of the file", examples=["march.csv"])}, ["filename"])
def plan_export(filename):
    return f"{filename} would be saved below the root."


server.run(opts)
