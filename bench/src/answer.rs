//! The responses of the raw servers, found by searching bytes; shared by both of them.

/// Appends the response to `message`; false if it needs none.
pub fn write(message: &[u8], out: &mut Vec<u8>) -> bool {
    let (Some(id), Some(method)) = (member(message, b"\"id\":"), member(message, b"\"method\":"))
    else {
        return false;
    };
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id);
    match method {
        b"\"initialize\"" => out.extend_from_slice(
            br#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}}"#,
        ),
        b"\"tools/list\"" => out.extend_from_slice(
            br#","result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"message":{"type":"string"}}}}]}}"#,
        ),
        b"\"tools/call\"" => {
            out.extend_from_slice(br#","result":{"content":[{"type":"text","text":"#);
            out.extend_from_slice(member(message, b"\"message\":").unwrap_or(b"\"\""));
            out.extend_from_slice(b"}]}}");
        }
        _ => out.extend_from_slice(br#","error":{"code":-32601,"message":"unknown method"}}"#),
    }
    true
}

/// The plain number or string after the first `key`; sufficient for the messages measured here.
fn member<'a>(message: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = &message[find(message, key)? + key.len()..];
    let end = match rest.first()? {
        b'"' => rest[1..].iter().position(|&byte| byte == b'"')? + 2,
        _ => rest.iter().position(|byte| matches!(byte, b',' | b'}'))?,
    };
    Some(&rest[..end])
}

/// The first position of `needle`.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + haystack[from..].iter().position(|&byte| byte == needle[0])?;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
}
