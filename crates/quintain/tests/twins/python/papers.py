"""Reads documents of several formats below a root. Weak: each reader opens whatever it is pointed at."""

import json
import os
import re
import zipfile

from mcp import Server, ToolError, options, string

opts = options()
server = Server("papers", "0.4.0", strict=True)
ROOT = opts.root


def opened(path):
    """Where a document is, as far as it may be read."""
    real = os.path.realpath(os.path.join(ROOT, path))
    if opts.fixed and os.path.commonpath([real, ROOT]) != ROOT:
        raise ToolError("Access denied")
    return real


def of_archive(path, part, pattern):
    """The texts of one part of an office document."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = re.findall(pattern, archive.read(part).decode())
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        raise ToolError("This is no document of that format") from None
    return "\n".join(found)


def plain(path, mode="rb"):
    try:
        with open(path, mode) as file:
            return file.read(1 << 20)
    except (OSError, ValueError):
        raise ToolError("This is no document of that format") from None


def path_of(kind):
    return {"path": string(f"Path of the {kind}", minLength=1)}


@server.tool("extract_pdf", "Text of a PDF file.", path_of("PDF file"), ["path"])
def extract_pdf(path):
    data = plain(opened(path))
    if not data.startswith(b"%PDF-"):
        raise ToolError("This is no PDF file")
    return "\n".join(text.decode(errors="replace") for text in re.findall(rb"\(([^)]*)\) Tj", data))


@server.tool("extract_docx", "Text of a Word document (.docx).", path_of("Word document"), ["path"])
def extract_docx(path):
    return of_archive(opened(path), "word/document.xml", r"<w:t>([^<]*)</w:t>")


@server.tool("extract_xlsx", "Cells of an Excel workbook (.xlsx).", path_of("Excel workbook"), ["path"])
def extract_xlsx(path):
    return of_archive(opened(path), "xl/worksheets/sheet1.xml", r"<t>([^<]*)</t>")


@server.tool("extract_notebook", "Texts of a Jupyter notebook (.ipynb).", path_of("Jupyter notebook"), ["path"])
def extract_notebook(path):
    try:
        cells = json.loads(plain(opened(path)))["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells)
    except (ValueError, KeyError, TypeError):
        raise ToolError("This is no notebook") from None


@server.tool("count_pages", "Pages of a PDF file below the root.", path_of("PDF file"), ["path"])
def count_pages(path):
    real = os.path.realpath(os.path.join(ROOT, path))
    if os.path.commonpath([real, ROOT]) != ROOT:
        raise ToolError("Access denied")
    return {"pages": plain(real).count(b"/Type /Page ")}


server.run(opts)
