"""Changes, one of them while a run goes on, then Ctrl-C; waits for what is said, never for time but to see that nothing happens."""
import os, pathlib, select, signal, subprocess, time
suite, calls, more = map(pathlib.Path, ["quintain.yaml", "calls", "more.yaml"])
# Standard output and reports go into the folder of the suite.
out = open("out.txt", "w")
run = subprocess.Popen(
    ["quintain", "eval", "--watch", "-j", "1", "--no-write", "-o", "report.yaml", "-o", "report.html"],
    stdout=out, stderr=subprocess.PIPE, text=True, bufsize=1)

def waits():
    for line in run.stderr:
        print(line, end="")
        if line.startswith("waiting"):
            return

def write(path, text):
    """At once, as editors do."""
    pathlib.Path("new").write_text(text)
    os.replace("new", path)

def edit(old, new):
    write(suite, suite.read_text().replace(old, new))

waits()
pathlib.Path("stranger.txt").write_text("nobody reads this")
print("again" if select.select([run.stderr], [], [], 1.5)[0] else "quiet")
edit("tool: say", "tool: hold")
while not (calls.exists() and "hold" in calls.read_text()):
    time.sleep(0.01)
edit("tool: hold", "tool: count")
pathlib.Path("go").touch()
waits()
waits()
# What was missing appears.
edit("tests: [", "tests: [file://more.yaml, ")
waits()
write(more, "- vars: {prompt: {tool: say, args: {text: later}}}\n")
waits()
write(more, "- vars: {prompt: {tool: say, args: {text: last}}}\n")
waits()
actor = pathlib.Path("actor.py")
write(actor, actor.read_text() + "\n")
waits()
run.send_signal(signal.SIGINT)
print("ended with", run.wait())
print(calls.read_text(), end="")
