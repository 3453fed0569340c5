//! JSON text as JavaScript writes it, so that outputs read the same as in promptfoo.

use std::io::{self, Write};

use quintain_source::array_index;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::javascript_number::number;

/// `JSON.stringify(value)`, except that integers beyond 2^53 keep all their digits.
pub fn stringify(value: &Value) -> String {
    write(value, Numbers(CompactFormatter))
}

/// `JSON.stringify(value, null, 2)`
pub fn stringify_pretty(value: &Value) -> String {
    write(value, Numbers(PrettyFormatter::with_indent(b"  ")))
}

/// A value whose maps have the order of JavaScript: keys that are numbers come first, by their size.
pub fn ordered(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(ordered).collect(),
        Value::Object(entries) => {
            let entries = entries.into_iter().map(|(key, value)| (key, ordered(value)));
            let mut entries: Vec<_> = entries.collect();
            entries.sort_by_key(|(key, _)| array_index(key).map_or((1, 0), |index| (0, index)));
            Value::Object(entries.into_iter().collect())
        }
        other => other,
    }
}

fn write<F: Formatter>(value: &Value, formatter: F) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Writing a value into memory does not fail.
    let _ = value.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}

/// Leaves everything but floating-point numbers to the formatter inside.
struct Numbers<F>(F);

macro_rules! inner {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        })*
    };
}

impl<F: Formatter> Formatter for Numbers<F> {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(number(value).as_bytes())
    }

    inner! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_look_as_in_javascript() {
        assert_eq!(
            stringify(&json!({"a": [1.0, 2.5, "x"], "b": {}})),
            r#"{"a":[1,2.5,"x"],"b":{}}"#
        );
        assert_eq!(stringify_pretty(&json!({"a": []})), "{\n  \"a\": []\n}");
    }
}
