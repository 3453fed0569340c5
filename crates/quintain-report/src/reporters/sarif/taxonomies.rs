//! Frameworks as taxonomies of the weaknesses that rules detect.

use quintain_evidence::frameworks::{self, Entry, Framework};
use serde_json::{Value, json};

/// The frameworks of these ids, each with the entries that occur.
pub(super) fn described<'i>(ids: impl Iterator<Item = &'i str>) -> Vec<Value> {
    let mut used: Vec<&str> = ids.collect();
    used.sort_unstable();
    used.dedup();
    let of = |framework: &Framework| {
        let entries = framework.entries.iter().filter(|entry| used.contains(&entry.id));
        let taxa: Vec<Value> = entries.map(taxon).collect();
        (!taxa.is_empty()).then(|| {
            json!({
                "name": framework.name,
                "organization": framework.organization,
                "shortDescription": {"text": framework.title},
                "isComprehensive": false,
                "taxa": taxa,
            })
        })
    };
    frameworks::FRAMEWORKS.iter().filter_map(of).collect()
}

fn taxon(entry: &Entry) -> Value {
    json!({"id": entry.id, "shortDescription": {"text": entry.title}})
}

/// References to the entries of these ids; unknown ids appear only as tags.
pub(super) fn references<'i>(ids: impl Iterator<Item = &'i str>) -> Vec<Value> {
    let known = ids.filter_map(frameworks::find);
    let refer = |(framework, entry): (&Framework, &Entry)| json!({"id": entry.id, "toolComponent": {"name": framework.name}});
    known.map(refer).collect()
}
