//! The text of an answer without the parts that repeat the request.

use quintain_content::json_value;
use serde_json::Value;

use crate::evidence::Exchange;

/// Whether two calls are answered differently; false if one of them has no answer.
pub fn differ(first: &Exchange, second: &Exchange) -> bool {
    match (own_words(first), own_words(second)) {
        (Some(first), Some(second)) => first != second,
        _ => false,
    }
}

/// The text of an answer without the arguments it repeats; none if there is no answer.
pub fn own_words(exchange: &Exchange) -> Option<String> {
    if !exchange.outcome.is_answer() {
        return None;
    }
    let mut given = json_value::texts(exchange.sent.get("arguments").unwrap_or(&exchange.sent));
    // Single letters occur everywhere.
    given.retain(|text| text.trim().chars().count() > 1);
    // Longer texts first, since they may contain shorter ones.
    given.sort_by_key(|text| std::cmp::Reverse(text.len()));
    let said = exchange.outcome.said();
    Some(given.iter().fold(said, |said, text| without(&said, text)).to_lowercase())
}

/// `said` in lower case without `plain`, however that is escaped.
pub fn without(said: &str, plain: &str) -> String {
    let quoted = |text: &str| {
        let text = Value::from(text).to_string();
        text[1..text.len() - 1].to_owned()
    };
    let once = quoted(plain);
    let mut said = said.to_owned();
    for way in [quoted(&once), once, html(plain), plain.trim().to_owned()] {
        said = cut(&said, &way);
    }
    // Lower-casing comes last: it would hide escaped copies from the search.
    cut(&said.to_lowercase(), &plain.trim().to_lowercase())
}

fn cut(text: &str, part: &str) -> String {
    if part.is_empty() { text.to_owned() } else { text.replace(part, "") }
}

fn html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Outcome;
    use serde_json::json;

    fn answered(given: &str, outcome: Outcome) -> Exchange {
        Exchange::called("", "find", json!({"query": given, "page": 1}), outcome)
    }

    fn text(given: &str, text: &str) -> Exchange {
        answered(given, Outcome::says(text))
    }

    #[test]
    fn repetitions_make_no_difference() {
        let (one, two) = ("zq' OR 'a'<'b", "zq' OR 'b'<'a");
        for way in ["no {}", "No {}!", "{\"error\": \"no {}\"}"] {
            let said = |given: &str| text(given, &way.replace("{}", given));
            assert!(!differ(&said(one), &said(two)), "{way}");
        }
        assert!(!differ(&text(one, &html(one)), &text(two, &html(two))));
        assert!(!differ(&text(one, &one.to_uppercase()), &text(two, &two.to_uppercase())));
        assert!(differ(&text(one, "ann, bob"), &text(two, "nobody")));
    }

    #[test]
    fn no_answer_is_no_other_answer() {
        let closed = answered("x", Outcome::Closed { why: "it ended".into() });
        assert!(!differ(&closed, &text("y", "fine")));
        assert_eq!(own_words(&closed), None);
    }
}
