#!/usr/bin/env python3
"""A scripted model: an endpoint on loopback whose replies follow from marks in the text that it gets.

    judge.py [PORT]     prints its URL, then serves until it is killed

Mark `[[N reply]]`, N from 1 to 9: the mark with the highest number counts, the last one of several. Tests put a mark
with a higher number into what only a later question contains. `~XX` in a reply is the character with that
hexadecimal code, because quotation marks, line breaks and braces change on their way through templates and JSON.

    [[1 {~22pass~22:true}]]  replies with this text        [[1 ]]            replies with empty text
    [[1 !500]]               replies with this status      [[1 !refuse]]     refuses
    [[1 !broken]]            replies with half a body      [[1 !null]]       replies without content

Without a mark: a chat gets `{"pass": true, "score": 1, "reason": "no mark"}`. Other endpoints have marks of their own:

    embeddings       [[embed 1,0,0]]             without a mark: a vector made of the letters
    moderations      [[flag hate,violence]]      without a mark: nothing is flagged
    classification   [[class nice=0.8,rude=0.2]] without a mark: {neutral: 1}

Requests whose key is `wrong-key` are refused with 401; a model called `missing` is not found.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPLY = re.compile(r"\[\[([1-9]) (.*?)\]\]", re.DOTALL)
EMBED = re.compile(r"\[\[embed ([-0-9.,e]*|![a-z0-9]+)\]\]")
FLAG = re.compile(r"\[\[flag ([^\]]*)\]\]")
CLASS = re.compile(r"\[\[class ([^\]]*)\]\]")
DEFAULT = '{"pass": true, "score": 1, "reason": "no mark"}'
CATEGORIES = ["harassment", "hate", "self-harm", "sexual", "violence"]


class Fault(Exception):
    """A reply that is not a success."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Broken(Exception):
    """A reply that ends too early."""


def texts(value):
    """All texts below a value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


def reply(text):
    """The reply that the marks in a text demand: (text, whether it is a refusal)."""
    marks = REPLY.findall(text)
    if not marks:
        return DEFAULT, False
    highest = max(number for number, _ in marks)
    wanted = [said for number, said in marks if number == highest][-1]
    if wanted == "!refuse":
        return "I cannot help with that.", True
    if wanted == "!null":
        return None, False
    fault(wanted)
    return re.sub("~([0-9a-fA-F]{2})", lambda code: chr(int(code.group(1), 16)), wanted), False


def fault(wanted):
    if wanted == "!broken":
        raise Broken
    if re.fullmatch("![0-9]{3}", wanted):
        raise Fault(int(wanted[1:]), f"scripted failure {wanted[1:]}")


def embedding(text):
    marks = EMBED.findall(text)
    if marks:
        fault(marks[-1])
        return [float(number) for number in marks[-1].split(",") if number]
    vector = [0.0] * 8
    for letter in text.lower():
        vector[ord(letter) % 8] += 1.0
    return vector


def usage(*names):
    return dict(zip(names, (11, 7, 18)))


def chat(body):
    said, refused = reply("\n".join(texts(body.get("messages"))))
    message = {"role": "assistant", "content": None if refused else said}
    if refused:
        message["refusal"] = said
    return {
        "id": "chat-1", "object": "chat.completion", "created": 0, "model": body.get("model"),
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": usage("prompt_tokens", "completion_tokens", "total_tokens"),
    }


def completions(body):
    said, _ = reply("\n".join(texts(body.get("prompt"))))
    return {
        "id": "text-1", "object": "text_completion", "created": 0, "model": body.get("model"),
        "choices": [{"index": 0, "finish_reason": "stop", "text": said}],
        "usage": usage("prompt_tokens", "completion_tokens", "total_tokens"),
    }


def responses(body):
    said, refused = reply("\n".join(texts(body.get("input"))))
    part = {"type": "refusal", "refusal": said} if refused else {"type": "output_text", "text": said or "", "annotations": []}
    return {
        "id": "resp-1", "object": "response", "created_at": 0, "model": body.get("model"), "status": "completed",
        "output": [{"type": "message", "id": "msg-1", "status": "completed", "role": "assistant", "content": [part]}],
        "usage": usage("input_tokens", "output_tokens", "total_tokens"),
    }


def messages(body):
    said, refused = reply("\n".join(texts([body.get("system"), body.get("messages")])))
    return {
        "id": "msg-1", "type": "message", "role": "assistant", "model": body.get("model"),
        "content": [{"type": "text", "text": said or ""}], "stop_reason": "refusal" if refused else "end_turn",
        "stop_sequence": None, "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def embeddings(body):
    given = body.get("input")
    given = given if isinstance(given, list) else [given]
    data = [{"object": "embedding", "index": at, "embedding": embedding(text)} for at, text in enumerate(given)]
    return {"object": "list", "data": data, "model": body.get("model"), "usage": {"prompt_tokens": 5, "total_tokens": 5}}


def moderations(body):
    text = "\n".join(texts(body.get("input")))
    marks = FLAG.findall(text)
    if marks:
        fault(marks[-1])
    flagged = marks[-1].split(",") if marks else []
    return {
        "id": "modr-1", "model": body.get("model"),
        "results": [{
            "flagged": bool(flagged),
            "categories": {name: name in flagged for name in CATEGORIES},
            "category_scores": {name: 0.9 if name in flagged else 0.1 for name in CATEGORIES},
        }],
    }


def classification(body):
    marks = CLASS.findall(str(body.get("inputs", "")))
    if not marks:
        return [[{"label": "neutral", "score": 1.0}]]
    fault(marks[-1])
    pairs = [pair.split("=") for pair in marks[-1].split(",") if pair]
    return [[{"label": label, "score": float(score)} for label, score in pairs]]


ROUTES = {
    "/chat/completions": chat,
    "/completions": completions,
    "/responses": responses,
    "/messages": messages,
    "/embeddings": embeddings,
    "/moderations": moderations,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # An answer is one small packet.
    disable_nagle_algorithm = True

    def do_POST(self):
        given = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self.allow()
            body = json.loads(given)
            route = next((make for path, make in ROUTES.items() if self.path.split("?")[0].endswith(path)), classification)
            if body.get("model") == "missing":
                raise Fault(404, "The model `missing` does not exist")
            self.answer(200, route(body))
        except Fault as problem:
            self.answer(problem.status, {"error": {"message": str(problem), "type": "scripted", "code": None}})
        except Broken:
            self.answer(200, None)

    def allow(self):
        keys = (self.headers.get("Authorization", ""), self.headers.get("x-api-key", ""))
        if any("wrong-key" in key for key in keys):
            raise Fault(401, "Incorrect API key provided")

    def answer(self, status, body):
        data = b'{"half": ' if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def main():
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
