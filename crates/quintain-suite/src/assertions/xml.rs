//! The output is or contains XML, optionally with required elements.

use quintain_content::markup::fragments::{self, Found};
use quintain_content::markup::tree::{self, Element};
use quintain_content::markup::well_formed::{self, Fault};
use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Expected, Spec, judging};

pub(super) static IS_XML: Builtin = Builtin {
    meta: &Meta {
        id: "is-xml",
        aliases: &[],
        summary: "The output is XML, optionally with required elements",
        docs: r"# What it does
Parses the whole output as an XML document with namespaces. `value` lists required elements: a list,
comma-separated text, or a map with `requiredElements`.

An element is given by its path from the root, such as `order.item`. If an element occurs several times, a
number selects one (`order.item.0.price`). `@_name` is an attribute, `#text` the text of an element that
has more than text.

Fails if the document type contains declarations (an internal subset).

# Example
```yaml
- type: is-xml
  value: [order.item, 'order.@_id']
```
",
        since: "0.1.0",
    },
    compile: is_xml,
};

pub(super) static CONTAINS_XML: Builtin = Builtin {
    meta: &Meta {
        id: "contains-xml",
        aliases: &[],
        summary: "The output contains XML, optionally with required elements",
        docs: r"# What it does
Searches the output for elements with a start tag and an end tag, in prose or in fenced blocks. `value`
lists required elements, as for `is-xml`; consecutive elements count together.

Ignores errors inside the elements, such as unknown entities.

# Example
```yaml
- type: contains-xml
  value: answer.text
```
",
        since: "0.1.0",
    },
    compile: contains_xml,
};

const FIT: &str = "XML is valid and contains all required elements";

fn paths(spec: &mut Spec<'_, '_>) -> Expected<Vec<String>> {
    spec.expect(|value| {
        let list = |items: &[Value]| items.iter().map(js::string).collect();
        match value {
            Some(Value::String(text)) => {
                Ok(text.split(',').map(|path| js::trim(path).to_owned()).collect())
            }
            Some(Value::Array(items)) => Ok(list(items)),
            Some(Value::Object(map)) if !map.is_empty() => match map.get("requiredElements") {
                Some(Value::Array(items)) => Ok(list(items)),
                _ => {
                    Err("xml assertion must contain a string, array value, or no value".to_owned())
                }
            },
            _ => Ok(Vec::new()),
        }
    })
}

fn is_xml(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (paths, negated) = (paths(spec), spec.negated);
    judging(move |scene| {
        let paths = paths.get(scene)?;
        let fault = document_fault(&scene.text(), &paths);
        Ok(Verdict::met(fault.is_none() != negated, || fault.unwrap_or_else(|| FIT.to_owned())))
    })
}

fn document_fault(text: &str, paths: &[String]) -> Option<String> {
    let failed = |why: String| format!("XML parsing failed: {why}");
    match well_formed::check(text) {
        Err(Fault::InternalSubset) => {
            return Some("DTD internal subsets are not supported by is-xml validation".to_owned());
        }
        Err(Fault::Malformed(why)) => return Some(failed(why)),
        Ok(()) => {}
    }
    let root = match tree::parse(text) {
        Ok(root) => root,
        Err(why) => return Some(failed(why)),
    };
    let missing: Vec<&str> = missing(&root, paths).collect();
    if missing.is_empty() {
        return None;
    }
    Some(format!("XML is missing required elements: {}", missing.join(", ")))
}

fn missing<'p>(root: &Element, paths: &'p [String]) -> impl Iterator<Item = &'p str> {
    paths.iter().map(String::as_str).filter(|path| !root.has(path))
}

fn contains_xml(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (paths, negated) = (paths(spec), spec.negated);
    judging(move |scene| {
        let paths = paths.get(scene)?;
        let found = fragments::find(&scene.text(), |root| missing(root, &paths).next().is_none());
        Ok(Verdict::met((found == Found::Fit) != negated, || {
            let why = match found {
                Found::Nothing => "No XML content found in the output",
                Found::Unfit => "No valid XML content found matching the requirements",
                Found::Fit => FIT,
            };
            why.to_owned()
        }))
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestScene, flaw, passes};

    fn reason(yaml: &str, output: &str) -> String {
        TestScene::output(output).judge(yaml).reason
    }

    #[test]
    fn elements_are_asked_for_in_every_notation() {
        let output = "<a><b>1</b><c d=\"2\"/></a>";
        for value in ["[a.b, a.c]", "'a.b, a.c'", "{requiredElements: [a.b, 'a.c.@_d']}"] {
            for kind in ["is-xml", "contains-xml"] {
                assert!(passes(&format!("[{{type: {kind}, value: {value}}}]"), output));
                let negated = format!("[{{type: not-{kind}, value: {value}}}]");
                assert!(!passes(&negated, output));
            }
        }
        assert_eq!(
            reason("[{type: is-xml, value: [a.b, a.x, y]}]", output),
            "XML is missing required elements: a.x, y"
        );
    }

    #[test]
    fn reasons_say_what_is_wrong() {
        let is = "[{type: is-xml}]";
        assert_eq!(reason(is, "<a>"), "XML parsing failed: 1:3: unclosed tag: a");
        assert_eq!(
            reason(is, "<!DOCTYPE a []><a/>"),
            "DTD internal subsets are not supported by is-xml validation"
        );
        let contains = "[{type: contains-xml, value: b}]";
        assert_eq!(reason(contains, "text"), "No XML content found in the output");
        assert_eq!(
            reason(contains, "<a/>"),
            "No valid XML content found matching the requirements"
        );
        assert_eq!(reason("[{type: not-is-xml}]", "<a/>"), super::FIT);
    }

    #[test]
    fn other_maps_are_mistakes() {
        assert_eq!(
            flaw("[{type: is-xml, value: {elements: [a]}}]", "<a/>"),
            "xml assertion must contain a string, array value, or no value"
        );
        assert!(passes("[{type: is-xml, value: {}}]", "<a/>"));
        assert!(!passes("[{type: is-xml, value: ''}]", "<a/>"));
    }
}
