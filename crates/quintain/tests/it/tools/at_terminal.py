"""at_terminal.py ANSWER COMMAND...: runs a command at a terminal of its own, where somebody types ANSWER."""

import os
import pty
import sys
import termios

answer, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    # What is typed is not shown: when it would appear is a matter of chance.
    attributes = termios.tcgetattr(0)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, attributes)
    os.environ["TERM"] = "xterm"
    os.execvp(command[0], command)
shown = b""
typed = False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        # The way a terminal says that nobody is left at its other end.
        break
    if not piece:
        break
    shown += piece
    if b"[n]o" in shown.lower() and not typed:
        typed = True
        os.write(terminal, answer.encode() + b"\n")
print(shown.decode().replace("\r\n", "\n"), end="")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
