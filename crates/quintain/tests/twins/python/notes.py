"""Private notes; the token in NOTES_TOKEN says whose. Weak: a note is found by its id alone."""

import hashlib
import json
import os
import sys

from mcp import Server, ToolError, options, string

TOKENS = {"tok-alice-51c2": "alice", "tok-bob-98d4": "bob"}
opts = options()
server = Server("notes", "1.5.0", strict=True)
ME = TOKENS.get(os.environ.get("NOTES_TOKEN", ""))
if ME is None:
    sys.exit("NOTES_TOKEN is not known")
FILE = os.path.join(opts.root, "notes.json")
NOTE_ID = string("Id of a note, from list_notes", pattern="^note-[0-9a-f]{10}$")


def identity(owner, title):
    return "note-" + hashlib.sha256(f"{owner}/{title}".encode()).hexdigest()[:10]


def load():
    """All notes. The server runs once for each user, so they are in a file."""
    if not os.path.exists(FILE):
        first = [("alice", "Passport renewal", False), ("alice", "Office hours", True), ("bob", "Dentist", False), ("bob", "Lunch menu", True)]
        save({identity(o, t): {"owner": o, "title": t, "public": p, "state": "open"} for o, t, p in first})
    with open(FILE, encoding="utf-8") as file:
        return json.load(file)


def save(notes):
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump(notes, file)


load()


def own(note_id):
    note = load().get(note_id)
    if note is None or note["owner"] != ME:
        raise ToolError(f"No such note: {note_id}")
    return note


def found(note_id):
    """The note that a tool works on."""
    if opts.fixed:
        return own(note_id)
    note = load().get(note_id)
    if note is None:
        raise ToolError(f"No such note: {note_id}")
    return note


@server.tool("whoami", "The user whose notes these are.")
def whoami():
    return {"user": ME}


@server.tool("list_notes", "List your notes.")
def list_notes():
    return {"notes": [{"note_id": i, "title": n["title"]} for i, n in load().items() if n["owner"] == ME]}


@server.tool("create_note", "Create a note.", {
    "kind": string("What it is about", enum=["Groceries", "Errands", "Ideas"]),
}, ["kind"])
def create_note(kind):
    notes = load()
    title = f"{kind} {len(notes)}"
    note_id = identity(ME, title)
    notes[note_id] = {"owner": ME, "title": title, "public": False, "state": "open"}
    save(notes)
    return {"note_id": note_id}


@server.tool("read_note", "Read one of your notes.", {"note_id": NOTE_ID}, ["note_id"], annotations={"readOnlyHint": True})
def read_note(note_id):
    return found(note_id)


@server.tool("finish_note", "Mark one of your notes as done.", {"note_id": NOTE_ID}, ["note_id"])
def finish_note(note_id):
    found(note_id)
    notes = load()
    notes[note_id]["state"] = "done"
    save(notes)
    return f"{note_id} is done."


@server.tool("note_title", "Title of one of your notes.", {"note_id": NOTE_ID}, ["note_id"])
def note_title(note_id):
    return own(note_id)["title"]


@server.tool("list_public_notes", "List the notes that all users share.")
def list_public_notes():
    return {"notes": [{"note_id": i, "title": n["title"]} for i, n in load().items() if n["public"]]}


@server.tool("read_public_note", "Read a note that all users share.", {"note_id": NOTE_ID}, ["note_id"])
def read_public_note(note_id):
    note = load().get(note_id)
    if note is None or not note["public"]:
        raise ToolError(f"Not a public note: {note_id}")
    return note


@server.template("note://", "note_id", "One of your notes", mime="application/json")
def note(note_id):
    return json.dumps(found(note_id))


server.run(opts)
