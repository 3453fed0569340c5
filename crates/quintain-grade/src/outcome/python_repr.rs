//! What Python prints for a result object, such as `content=[TextContent(type='text', text='hi')] isError=False`: logs
//! contain it when somebody wrote `str(result)`. Becomes JSON.

use serde_json::{Map, Number, Value};

const MAX_DEPTH: usize = 64;

/// The fields of an object as Python prints it, with or without its class. None if the text is anything else. Fields
/// that are `None` are left out. Logs cut long results: what is left of the last text counts.
pub(super) fn parse(text: &str) -> Option<Value> {
    // Cheap refusal of ordinary text: a name, then `=` or `(`.
    let name = text.find(|c: char| !c.is_alphanumeric() && c != '_').filter(|at| *at > 0)?;
    let mut parser = ReprParser { text, at: 0, is_cut: false };
    let value = match text.as_bytes().get(name)? {
        b'=' => parser.fields(None, 0)?,
        b'(' => parser.value(0)?,
        _ => return None,
    };
    parser.space();
    (parser.at == text.len() && value.is_object()).then_some(value)
}

/// A dictionary as Python prints it: `{'status': 'error'}`.
pub(super) fn parse_dict(text: &str) -> Option<Value> {
    let mut parser = ReprParser { text, at: 0, is_cut: false };
    let value = if text.starts_with('{') { parser.value(0)? } else { return None };
    parser.space();
    (parser.at == text.len() && !parser.is_cut && value.is_object()).then_some(value)
}

struct ReprParser<'t> {
    text: &'t str,
    at: usize,
    /// Whether the text ends inside of a string.
    is_cut: bool,
}

impl<'t> ReprParser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }

    /// `name=value` pairs: to the closing bracket, separated by commas, or to the end of the text, by blanks.
    fn fields(&mut self, close: Option<u8>, depth: usize) -> Option<Value> {
        let mut fields = Map::new();
        let mut lone = None;
        loop {
            self.space();
            if self.peek() == close || self.is_cut {
                self.at += usize::from(close.is_some() && !self.is_cut);
                // A class around one value, such as `AnyUrl('file:///a')`, is that value.
                return Some(lone.filter(|_| fields.is_empty()).unwrap_or(Value::Object(fields)));
            }
            let start = self.at;
            let name = self.name().filter(|_| self.peek() == Some(b'='));
            if let Some(name) = name {
                self.at += 1;
                let value = self.value(depth + 1)?;
                if !value.is_null() {
                    fields.insert(name.to_owned(), value);
                }
            } else {
                self.at = start;
                lone = Some(self.value(depth + 1)?);
            }
            self.space();
            let is_at_end = self.peek() == close;
            if close.is_some() && !is_at_end && !self.is_cut && !self.eat(",") {
                return None;
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.space();
        match self.peek()? {
            b'\'' | b'"' => self.string(),
            b'b' if matches!(self.rest().as_bytes().get(1), Some(b'\'' | b'"')) => {
                self.at += 1;
                self.string()
            }
            b'[' => self.list(b']', depth),
            b'(' => self.list(b')', depth),
            b'{' => self.dict(depth),
            b'<' => self.enumeration(depth),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.named(depth),
        }
    }

    fn named(&mut self, depth: usize) -> Option<Value> {
        match self.name()? {
            "None" => Some(Value::Null),
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            name if self.eat("(") => {
                let fields = self.fields(Some(b')'), depth)?;
                // `datetime.datetime(2025, 1, 2)` has only positions; its last one says nothing.
                let is_date = name.ends_with("datetime") && !fields.is_object();
                Some(if is_date { Value::Null } else { fields })
            }
            _ => None,
        }
    }

    /// `<Color.RED: 'red'>` is its value.
    fn enumeration(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        self.name()?;
        self.eat(":").then_some(())?;
        let value = self.value(depth + 1)?;
        (self.is_cut || self.eat(">")).then_some(value)
    }

    fn list(&mut self, close: u8, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            if self.peek()? == close {
                self.at += 1;
                return Some(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            if self.is_cut {
                return Some(Value::Array(items));
            }
            self.space();
            if self.peek()? != close && !self.eat(",") {
                return None;
            }
        }
    }

    fn dict(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut members = Map::new();
        loop {
            self.space();
            if self.eat("}") {
                return Some(Value::Object(members));
            }
            let key = match self.value(depth + 1)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            if self.is_cut {
                return Some(Value::Object(members));
            }
            self.space();
            self.eat(":").then_some(())?;
            let value = self.value(depth + 1)?;
            members.insert(key, value);
            if self.is_cut {
                return Some(Value::Object(members));
            }
            self.space();
            if self.peek()? != b'}' && !self.eat(",") {
                return None;
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        let text = &rest[..end];
        let whole = text.parse::<i64>().map(Number::from).ok();
        let number = whole.or_else(|| Number::from_f64(text.parse().ok()?))?;
        Some(Value::Number(number))
    }

    fn string(&mut self) -> Option<Value> {
        let quote = self.peek()?;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let Some(next) = memchr::memchr2(quote, b'\\', rest.as_bytes()) else {
                out.push_str(rest);
                self.at = self.text.len();
                self.is_cut = true;
                return Some(Value::String(out));
            };
            out.push_str(&rest[..next]);
            self.at += next + 1;
            if rest.as_bytes()[next] == quote {
                return Some(Value::String(out));
            }
            if self.escape(&mut out).is_none() {
                self.at = self.text.len();
                self.is_cut = true;
                return Some(Value::String(out));
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        let letter = self.rest().chars().next()?;
        self.at += letter.len_utf8();
        let digits = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            other => {
                let plain = match other {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '\\' | '\'' | '"' => other,
                    // Python leaves other backslashes alone.
                    _ => {
                        out.push('\\');
                        other
                    }
                };
                out.push(plain);
                return Some(());
            }
        };
        let code = u32::from_str_radix(self.rest().get(..digits)?, 16).ok()?;
        self.at += digits;
        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn printed_results_become_json() {
        let text = r#"meta=None content=[TextContent(type='text', text='it\'s "ok"\n\xe4 \\n', annotations=None)] structuredContent={'a': [1, 2.5, None], 'b': {}} isError=False"#;
        assert_eq!(
            parse(text),
            Some(json!({
                "content": [{"type": "text", "text": "it's \"ok\"\nä \\n"}],
                "structuredContent": {"a": [1, 2.5, null], "b": {}},
                "isError": false
            }))
        );
        let text = r#"ReadResourceResult(contents=[TextResourceContents(uri=AnyUrl('file:///a'), text="x")], role=<Role.user: 'user'>)"#;
        assert_eq!(
            parse(text),
            Some(json!({"contents": [{"uri": "file:///a", "text": "x"}], "role": "user"}))
        );
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "Tool call timed out.",
            "a = 1",
            "x=",
            "content=[",
            "f(1)",
            "error=oops and more",
            "content=[] trailing words",
            "print(\"hello\")",
            "{'a': 1}",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_left_of_a_cut_result_counts() {
        for text in [
            "content=[TextContent(type='text', text='one two",
            "CallToolResult(content=[TextContent(type='text', text='one two\\",
            "content=[TextContent(type='text', text='one two\\x4",
        ] {
            let expected = json!({"content": [{"type": "text", "text": "one two"}]});
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        assert_eq!(parse("content={'a': 'b', 'c"), Some(json!({"content": {"a": "b"}})));
    }

    #[test]
    fn depth_is_limited() {
        let text = format!("content={}{}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(parse(&text), None);
    }

    proptest! {
        #[test]
        fn hostile_text_is_read_or_refused(text in r#"[a=(\['"\\x0u{:<, )\]}é]{0,60}"#) {
            let _ = parse(&text);
        }
    }
}
