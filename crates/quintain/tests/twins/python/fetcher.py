"""Fetches from the web. Weak: a list of forbidden names, redirects into the dark, no check of a callback, any scheme."""

import http.client
import ipaddress
import socket
import threading
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from mcp import Server, ToolError, options, string

opts = options("--mirror", mirror="https://mirror.example")
server = Server("fetcher", "1.7.3", strict=True)
# Pages that are kept, so that the server is of use without a network.
KEPT = {
    "https://example.com/": "<h1>Example Domain</h1>",
    "https://example.org/feed.xml": "<rss><channel><title>Example</title></channel></rss>",
}
FORBIDDEN = {"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "169.254.169.254"}
URL = string("Address of a public web page", format="uri", minLength=1, examples=["https://example.com/"])


def dial(address, *rest, **more):
    """Connects to a public address only: what is checked is what is connected to, for any notation and any hop."""
    found = {info[4][0] for info in socket.getaddrinfo(*address, type=socket.SOCK_STREAM)}
    if not all(ipaddress.ip_address(ip).is_global for ip in found):
        raise OSError("not a public address")
    return socket.create_connection((found.pop(), address[1]), *rest, **more)


class Http(http.client.HTTPConnection):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self._create_connection = dial


class Https(http.client.HTTPSConnection):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self._create_connection = dial


class PublicHttp(urllib.request.HTTPHandler):
    def http_open(self, request):
        return self.do_open(Http, request)


class PublicHttps(urllib.request.HTTPSHandler):
    def https_open(self, request):
        return self.do_open(Https, request)


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


PUBLIC = (PublicHttp, PublicHttps, Stay)


def get(url, *handlers, method="GET"):
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)
        with opener.open(urllib.request.Request(url, method=method), timeout=5) as response:
            return response.read(10_000).decode(errors="replace")
    except (OSError, ValueError, http.client.HTTPException):
        raise ToolError("The page cannot be fetched") from None


def web(url):
    if urlsplit(url).scheme not in ("http", "https"):
        raise ToolError(f"Not a web address: {url}")
    return url


@server.tool("fetch_page", "Fetch a public web page. Addresses of this machine and of private networks are refused.", {"url": URL}, ["url"])
def fetch_page(url):
    if url in KEPT:
        return KEPT[url]
    if opts.fixed:
        return get(web(url), *PUBLIC)
    if urlsplit(web(url)).netloc.rsplit(":", 1)[0].lower() in FORBIDDEN:
        raise ToolError("Private addresses are refused")
    return get(url)


@server.tool("fetch_mirror", f"Fetch a file from the mirror {opts.mirror} and from no other place.", {
    "url": string("Address below the mirror", format="uri", examples=[f"{opts.mirror}/index.txt"]),
}, ["url"])
def fetch_mirror(url):
    if not url.startswith(opts.mirror + "/"):
        raise ToolError(f"Not on the mirror: {url}")
    return get(url, Stay) if opts.fixed else get(url)


@server.tool("register_webhook", "Register a public address that is told about changes. It is asked once, in the background.", {
    "event": string("Which changes", enum=["created", "deleted"]),
    "target": {"type": "object", "additionalProperties": False, "required": ["url"], "properties": {
        "url": URL, "secret": string("Shared secret", maxLength=64)}},
}, ["event", "target"])
def register_webhook(event, target):
    def ask():
        try:
            get(web(target["url"]), *(PUBLIC if opts.fixed else ()), method="HEAD")
        except ToolError:
            pass
    threading.Thread(target=ask, daemon=True).start()
    return "Registered."


@server.tool("import_feed", "Read the start of an RSS feed on the web.",
             {"url": string("Address of the feed", format="uri", examples=["https://example.org/feed.xml"])}, ["url"])
def import_feed(url):
    if url in KEPT:
        return KEPT[url]
    return get(web(url) if opts.fixed else url, *PUBLIC)[:500]


@server.tool("check_link", "Take an address apart. It is not fetched.", {"url": URL}, ["url"])
def check_link(url):
    parts = urlsplit(url)
    return f"{url}: scheme {parts.scheme}, place {parts.netloc}, path {parts.path}"


@server.tool("shorten_link", "Tell whether an address can be shortened.", {"url": URL}, ["url"])
def shorten_link(url):
    if not url.startswith("https://"):
        raise ToolError(f"<urlopen error> refused: {url}")
    return "It can."


server.run(opts)
