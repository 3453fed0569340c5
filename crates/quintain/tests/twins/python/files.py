"""Reads files below a root. Weak: each tool has another of the usual wrong checks."""

import os
from urllib.parse import unquote

from mcp import Server, ToolError, options, seed, string

opts = options()
server = Server("files", "1.1.0", strict=True)
ROOT = opts.root
seed(ROOT, {"readme.txt": "Welcome.\n", "reports/q1.txt": "Revenue 12\n", "logs/app.log": "one\ntwo\nthree\n"})
PATH = string("Path of the file, relative to the root", minLength=1, examples=["readme.txt"])


def inside(path):
    """The real path of a file below the root."""
    real = os.path.realpath(os.path.join(ROOT, path))
    if os.path.commonpath([real, ROOT]) != ROOT:
        raise ToolError(f"Access denied: {path} is outside of the root")
    return real


def content(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(100_000)
    except (OSError, ValueError):
        raise ToolError("No such file") from None


@server.tool("list_allowed_directories", "The directory that the files are in.")
def list_allowed_directories():
    return {"directories": [ROOT]}


@server.tool("list_files", "List all files.")
def list_files():
    found = [os.path.join(folder, name) for folder, _, names in os.walk(ROOT) for name in names]
    return {"files": sorted(os.path.relpath(path, ROOT) for path in found)}


@server.tool("read_file", "Read a file.", {"path": PATH}, ["path"])
def read_file(path):
    return content(inside(path) if opts.fixed else os.path.join(ROOT, path))


@server.tool("read_report", "Read a report, by its path from list_files or its full path.", {"path": PATH}, ["path"])
def read_report(path):
    real = os.path.realpath(os.path.join(ROOT, path))
    if not real.startswith(ROOT + os.sep if opts.fixed else ROOT):
        raise ToolError("Access denied")
    return content(real)


@server.tool("tail_log", "The last lines of a log.", {
    "name": string("Path of the log", examples=["logs/app.log"]),
    "lines": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
}, ["name"])
def tail_log(name, lines=10):
    path = os.path.abspath(os.path.join(ROOT, name))
    if os.path.commonpath([path, ROOT]) != ROOT:
        raise ToolError(f"Access denied: {name}")
    return "\n".join(content(inside(name) if opts.fixed else path).splitlines()[-int(lines):])


@server.tool("preview_file", "The first 500 characters of a file. The path may be URL-encoded.", {"path": PATH}, ["path"])
def preview_file(path):
    if opts.fixed:
        return content(inside(unquote(path)))[:500]
    if ".." in path or path.startswith("/"):
        raise ToolError("Access denied")
    return content(os.path.join(ROOT, unquote(path)))[:500]


@server.tool("read_multiple_files", "Read several files.", {
    "paths": {"type": "array", "items": PATH, "minItems": 1, "maxItems": 20, "examples": [["readme.txt", "reports/q1.txt"]]},
}, ["paths"])
def read_multiple_files(paths):
    inside(paths[0])
    return "\n---\n".join(content(inside(path) if opts.fixed else os.path.join(ROOT, path)) for path in paths)


@server.tool("read_text", "Read a file as text, by its relative or full path.", {"path": PATH}, ["path"])
def read_text(path):
    return content(inside(path))


@server.tool("describe_path", "Explain the parts of a path. Nothing is read.", {"path": PATH}, ["path"])
def describe_path(path):
    return f"{path}: {path.count('/') + 1} parts, extension '{os.path.splitext(path)[1]}'"


@server.template("file:///", "path", "A file below the root")
def file_resource(path):
    return content(inside(unquote(path)) if opts.fixed else os.path.join(ROOT, unquote(path)))


@server.resource("file:///readme.txt", "The welcome page")
def readme():
    return content(os.path.join(ROOT, "readme.txt"))


server.run(opts)
