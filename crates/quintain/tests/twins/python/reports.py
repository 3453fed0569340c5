"""Reports from files and a database. Weak: errors tell traces, paths and statements."""

import os
import sqlite3
import traceback

from mcp import Server, ToolError, failure, options, seed, string

opts = options()
server = Server("reports", "2.4.0", strict=True)
seed(opts.root, {"archive/2023.txt": "A good year.\n", "archive/2024.txt": "A better year.\n"})
db = sqlite3.connect(":memory:")
db.executescript("CREATE TABLE totals (month TEXT, total INTEGER); INSERT INTO totals VALUES ('may', 12), ('june', 15);")
REPORTS = {"rep-1": {"title": "Sales"}, "rep-2": {"title": "Visits"}}

if not opts.fixed:
    server.crashed = lambda error: failure("".join(traceback.format_exception(error)))


@server.tool("list_reports", "List the reports.")
def list_reports():
    return {"reports": [{"report_id": i, **r} for i, r in REPORTS.items()]}


@server.tool("get_report", "Show a report.", {"report_id": string("Id, from list_reports", pattern="^rep-[0-9]+$", examples=["rep-1"])}, ["report_id"])
def get_report(report_id):
    return REPORTS[report_id]


@server.tool("open_archive", "Read the report of a year.", {"year": string("Year", pattern="^[0-9]{4}$", examples=["2023"])}, ["year"])
def open_archive(year):
    try:
        with open(os.path.join(opts.root, "archive", year + ".txt"), encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise ToolError("There is no report of that year" if opts.fixed else f"Cannot open: {error}") from None


@server.tool("month_total", "Total of a month.", {
    "month": string("Month", pattern="^[a-z]{3,9}$", examples=["may"]),
    "column": string("Column", pattern="^[a-z]{1,20}$", default="total", examples=["total"]),
}, ["month"])
def month_total(month, column="total"):
    sql = f"SELECT {column} FROM totals WHERE month = ?"
    try:
        found = db.execute(sql, (month,)).fetchone()
    except sqlite3.Error as error:
        raise ToolError("There is no such column" if opts.fixed else f"{error} while executing {sql}") from None
    return {"total": found and found[0]}


@server.tool("explain_error", "Explain the text of an error.", {"text": string("Text of the error", examples=["KeyError"])}, ["text"])
def explain_error(text):
    if text.strip() != "KeyError":
        raise ToolError(f"There is no explanation for: {text}")
    return "A key is missing."


@server.tool("sample_config", "A sample of the configuration.")
def sample_config():
    return "folder = /srv/reports/archive\nquery = SELECT total FROM totals"


server.run(opts)
