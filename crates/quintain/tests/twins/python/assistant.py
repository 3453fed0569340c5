"""Mail, pages and a way out. Weak: private data, foreign text and any address to post to, all in one server."""

import http.client
import urllib.request

from mcp import Server, ToolError, options, string

opts = options()
server = Server("assistant", "0.9.0", strict=True)
MAIL = {"m-1": "Your appointment is on Friday.", "m-2": "The invoice is attached."}
PAGES = {"https://news.example/": "Spring has come.", "https://blog.example/": "Ten recipes."}
POSTED = []
BOX = "the private mailbox of the user"


@server.tool("list_mail", f"List the mails in {BOX}.", annotations={"readOnlyHint": True})
def list_mail():
    return {"mails": list(MAIL)}


@server.tool("read_mail", f"Read a mail in {BOX}.", {"mail_id": string("Id, from list_mail", enum=list(MAIL))}, ["mail_id"],
             annotations={"readOnlyHint": True, "openWorldHint": False})
def read_mail(mail_id):
    return MAIL[mail_id]


@server.tool("open_page", "Open a web page of anybody and return its text.", {"url": string("Address", enum=list(PAGES))}, ["url"],
             annotations={"readOnlyHint": True, "openWorldHint": True})
def open_page(url):
    return PAGES[url]


if opts.fixed:
    @server.tool("post_message", "Keep a message for the user to send. Nothing leaves this machine.", {
        "channel": string("For whom", enum=["team", "family"]), "text": string("Message", maxLength=1000, examples=["Hello."]),
    }, ["channel", "text"], annotations={"openWorldHint": False})
    def keep_message(channel, text):
        POSTED.append((channel, text))
        return "Kept."
else:
    @server.tool("post_message", "Post a message to an address on the internet.", {
        "url": string("Address to post to", format="uri", examples=["https://hooks.example/team"]),
        "text": string("Message", maxLength=1000, examples=["Hello."]),
    }, ["url", "text"], annotations={"openWorldHint": True})
    def post_message(url, text):
        if url.startswith("https://hooks.example/"):
            return "Posted."  # the only address that is known to work without a network
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            opener.open(urllib.request.Request(url, text.encode(), method="POST"), timeout=5).close()
        except (OSError, ValueError, http.client.HTTPException):
            raise ToolError("The address does not answer") from None
        return "Posted."


@server.tool("draft_message", "Write a draft of a message. It is not sent.", {"text": string("Message", maxLength=1000, examples=["Hello."])}, ["text"])
def draft_message(text):
    return f"Draft: {text}"


server.run(opts)
