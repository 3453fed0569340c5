"""A server that does everything a recorder must pass on: notifications, requests, batches, garbage, long and cut lines.

Its methods are named after what they do. It writes its own process id into the file of the variable PID_FILE.
"""

import json
import os
import signal
import sys
import time

out = sys.stdout.buffer


def write(line):
    out.write(line)
    out.flush()


def on_signal(number, frame):
    # A signal may interrupt a write to the buffer, which must not be entered twice.
    os.write(1, b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"signal %d"}}\n' % number)
    os._exit(40 + number)


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, on_signal)
if "PID_FILE" in os.environ:
    with open(os.environ["PID_FILE"], "w") as file:
        file.write(str(os.getpid()))
secret = os.environ.get("CANARY_API_KEY", "none").encode()
sys.stderr.write("on standard error\n")
sys.stderr.flush()
write(b"banner of a server with key=" + secret + b"\n")
for line in sys.stdin.buffer:
    try:
        message = json.loads(line)
    except ValueError:
        write(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}\r\n')
        continue
    if isinstance(message, list):
        answers = [{"jsonrpc": "2.0", "id": one["id"], "result": {}} for one in message if "id" in one]
        write(json.dumps(answers).encode() + b"\n")
        continue
    method, number = message.get("method"), json.dumps(message.get("id")).encode()
    if method == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif method == "exit":
        sys.exit(3)
    elif method == "garbage":
        write(b"\xff\xfe\x00garbage\n\n   \n")
        write(b'{"deep":' + b"[" * 3000 + b"]" * 3000 + b"}\n")
        write(b'{"big":1e40,"lone":"\\ud83d\\ude00"}\n')
    elif method == "long":
        write(b'{"jsonrpc":"2.0","id":%s,"result":{"text":"%s"}}\n' % (number, b"y" * message["params"]["size"]))
        continue
    elif method == "partial":
        write(b'{"jsonrpc":"2.0",')
        sys.stdin.buffer.readline()
        write(b'"id":%s,"result":{}}\n' % number)
        continue
    elif method == "ask":
        write(b'{"jsonrpc":"2.0","id":"q1","method":"roots/list"}\n')
        answer = sys.stdin.buffer.readline().strip()
        write(b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}\n')
        write(b'{"jsonrpc":"2.0","id":%s,"result":{"answered":%s}}\n' % (number, answer))
        continue
    elif method == "echo":
        write(b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (number, json.dumps(message.get("params")).encode()))
        continue
    if "id" in message and method:
        write(b'{"jsonrpc": "2.0", "id": %s, "result": {"n": 12345678901234567890123, "key": "%s"}}\n' % (number, secret))
write(b"after the end of input")
sys.exit(5)
