"""Runs a suite at a terminal of 50 columns and shows what stands there in the end."""
import fcntl, os, pty, re, struct, subprocess, termios
here, there = pty.openpty()
fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
run = subprocess.Popen(["quintain", "-v", "eval", "--no-write"], stdin=there, stdout=there, stderr=there, env=env)
os.close(there)
seen = b""
while True:
    try:
        piece = os.read(here, 4096)
    except OSError:
        break
    if not piece:
        break
    seen += piece
text = seen.decode()
print("coloured" if "\x1b[32m" in text else "plain", "exit", run.wait())
# What was erased is gone; what was written over is, too.
lines = [re.split(r"\x1b\[2?K|\r", line.rstrip("\r"))[-1] for line in text.split("\n")]
lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).rstrip() for line in lines]
print("too wide:", [line for line in lines if len(line) > 50])
for line in lines:
    if line.startswith("Latency"):
        break  # where it is wrapped depends on the numbers
    print(re.sub(r" +\d+(\.\d+)? m?s", " [time]", line))
