//! URLs of servers and of authorization servers.

use quintain_source::{Diagnostic, Diagnostics, Node};

/// Reports a text that cannot be an HTTP URL. Connecting validates the details.
pub(super) fn check_url(name: &str, url: &str, node: &Node, dx: &mut Diagnostics) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let sound = !host.is_empty() && !url.contains(|c: char| c.is_whitespace() || c.is_control());
    if !sound {
        let title = format!("`{name}` is not a valid http or https URL");
        dx.push(Diagnostic::error("config::bad-url", title).at(node.span, ""));
    }
    sound
}
