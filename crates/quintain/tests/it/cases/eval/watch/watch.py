"""Two changes, one of them while a run goes on, then Ctrl-C; waits for what is said, never for time."""
import pathlib, signal, subprocess, time
suite, calls = pathlib.Path("quintain.yaml"), pathlib.Path("calls")
run = subprocess.Popen(["quintain", "eval", "--watch", "--no-write", "--no-table"], stderr=subprocess.PIPE, text=True)

def waits():
    for line in run.stderr:
        print(line, end="")
        if line.startswith("waiting"):
            return

waits()
suite.write_text(suite.read_text().replace("tool: say", "tool: hold"))
while not (calls.exists() and "hold" in calls.read_text()):
    time.sleep(0.01)
suite.write_text(suite.read_text().replace("tool: hold", "tool: count"))
pathlib.Path("go").touch()
waits()
waits()
run.send_signal(signal.SIGINT)
print("ended with", run.wait(), calls.read_text().split())
