//! The output is HTML or contains HTML.

use quintain_content::markup::html::{self, Nature};
use quintain_content::registry::Meta;
use quintain_evidence::verdict::Verdict;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static IS_HTML: Builtin = Builtin {
    meta: &Meta {
        id: "is-html",
        aliases: &[],
        summary: "The output is HTML",
        docs: r"# What it does
Parses the whole output like a browser, which repairs missing tags. Passes if there is at least one HTML
element (or a custom one, such as `my-card`) and no text outside of the elements.

# Example
```yaml
- type: is-html
```
",
        since: "0.1.0",
    },
    compile: is_html,
};

pub(super) static CONTAINS_HTML: Builtin = Builtin {
    meta: &Meta {
        id: "contains-html",
        aliases: &[],
        summary: "The output contains HTML",
        docs: r"# What it does
Searches the output for signs of HTML: tags, entities, comments, attributes, a document type. One common
element is enough; of the other signs there must be at least two.

# Example
```yaml
- type: contains-html
```
",
        since: "0.1.0",
    },
    compile: contains_html,
};

fn is_html(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    judging(move |scene| {
        let why = match html::nature(&scene.text()) {
            Nature::Html => "Output is valid HTML",
            Nature::Other(why) => return Ok(Verdict::met(negated, || why.to_owned())),
            Nature::Unknown => {
                return Ok(Verdict::error("the elements of the output are nested too deeply"));
            }
        };
        Ok(Verdict::met(!negated, || why.to_owned()))
    })
}

fn contains_html(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    judging(move |scene| {
        let not = if negated { "not " } else { "" };
        Ok(Verdict::met(html::is_likely(&scene.text()) != negated, || {
            format!("Expected output to {not}contain HTML content")
        }))
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;

    use crate::testing::TestScene;

    #[test]
    fn reasons_say_what_is_wrong() {
        for (kind, output, reason) in [
            ("is-html", "plain", "Output must be wrapped in HTML tags"),
            ("is-html", " ", "Output is empty"),
            ("is-html", "<?xml version='1.0'?><a/>", "Output appears to be XML, not HTML"),
            ("not-is-html", "<p>x</p>", "Output is valid HTML"),
            ("contains-html", "plain", "Expected output to contain HTML content"),
            ("not-contains-html", "<p>x</p>", "Expected output to not contain HTML content"),
            ("not-is-html", "plain", "Assertion passed"),
            ("contains-html", "a <p>x</p>", "Assertion passed"),
        ] {
            let verdict = TestScene::output(output).judge(&format!("[{{type: {kind}}}]"));
            assert_eq!(verdict.reason, reason);
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_pass() {
        let stage = TestScene::output("<x>".repeat(20_000));
        assert_eq!(stage.judge("[{type: not-is-html}]").status, Status::Error);
    }
}
