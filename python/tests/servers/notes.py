"""A server of the official SDK, 1.x or 2.x, with tools, a resource and a prompt."""

try:
    from mcp.server.fastmcp import FastMCP as Server
except ImportError:
    from mcp.server import MCPServer as Server

server = Server("notes")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def note(text: str) -> str:
    """Keeps a note."""
    return f"noted: {text}"


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("this tool always fails")


@server.resource("notes://first")
def first() -> str:
    """The first note."""
    return "buy milk"


@server.prompt()
def greet(name: str) -> str:
    """A greeting."""
    return f"Hello {name}"


if __name__ == "__main__":
    server.run("stdio")
