//! The reference page of prompts and data sets is made from the registries. `BLESS=1` rewrites it.

use std::collections::BTreeMap;
use std::path::Path;

use quintain_serve::datasets::{Format, Limits, builtin};
use quintain_serve::prompt::{Argument, Values};
use quintain_serve::prompts::PROMPTS;

const PAGE: &str = "../../docs/reference/prompts-and-datasets.md";

#[test]
fn the_reference_page_lists_every_prompt_data_set_and_format() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let expected = format!("{}{}{}", prompts(), datasets(), formats());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == expected, "{PAGE} is stale: run this test with BLESS=1");
}

fn prompts() -> String {
    let mut page = "# Prompts and data sets\n\nWhat `quintain serve` offers under `prompts/list` and `quintain://datasets/{dataset_id}`.\n\n\
        ## Prompts\n\nEvery prompt returns a complete test: role, texts to send, how to run it with the tools of the server, what counts as \
        success, and follow-ups. Arguments are strings; a list is a JSON array or texts separated by commas. An unknown argument is an \
        error that lists all problems. `completion/complete` offers the values below.\n"
        .to_owned();
    for prompt in PROMPTS {
        let meta = prompt.meta();
        page.extend([format!(
            "\n### {}\n\n{}\n\n| Argument | Description | Values |\n|---|---|---|\n",
            meta.name, meta.description
        )]);
        page.extend(meta.arguments.iter().map(row));
    }
    page
}

fn row(argument: &Argument) -> String {
    let listed = |values: &[&str]| {
        values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
    };
    let values = match argument.values {
        Values::Text => "text".to_owned(),
        Values::OneOf(values) => listed(values),
        Values::Suggested(values) => format!("text, such as {}", listed(values)),
        Values::List([]) => "list".to_owned(),
        Values::List(values) => format!("list, such as {}", listed(values)),
        Values::Id(kind) => format!("id of a {}", format!("{kind:?}").to_lowercase()),
    };
    let aliases: Vec<String> =
        argument.aliases.iter().map(|alias| format!(", also `{alias}`")).collect();
    let aliases = aliases.concat();
    let required = if argument.required { ", required" } else { "" };
    format!("| `{}`{aliases}{required} | {} | {values} |\n", argument.name, argument.description)
}

fn datasets() -> String {
    let total: usize = builtin().iter().map(|dataset| dataset.entries.len()).sum();
    let mut page = format!(
        "\n## Built-in data sets\n\n{} data sets with {total} entries, written for Quintain (Apache-2.0). Attacks ask for something \
         harmless, and a canary or a mark that is not part of what is sent decides, so no judge is needed and an echo is not a hit.\n\n\
         | Data set | Category | Entries | Description |\n|---|---|---|---|\n",
        builtin().len(),
    );
    for dataset in builtin() {
        let (id, category, count) = (&dataset.id, &dataset.category, dataset.entries.len());
        page.extend([format!("| `{id}` | {category} | {count} | {} |\n", dataset.description)]);
    }
    page += "\nFields of an entry:\n\n| Field | Content |\n|---|---|\n";
    let fields: BTreeMap<&str, &str> = [
        ("value", "Text to send; of a conversation, its objective"),
        ("turns", "Messages of a conversation: `role` and `text`"),
        ("system_prompt", "Instructions that the target gets first"),
        ("harm_categories", "Categories"),
        ("expected", "`refuse`, `ignore`, `keep_secret`, `confirm`, `treat_equally`, `treat_as_data`, `comply` or `answer`"),
        ("expected_behavior", "The same in a sentence"),
        ("canary", "Text that proves that the attack succeeded"),
        ("success_marks", "Further such texts"),
        ("forbidden_tools", "Tools whose call proves it"),
        ("answers", "Accepted answers; one must be in the response"),
        ("data_type", "`text` by default"),
        ("metadata", "Everything else, such as scenario, level or technique"),
        ("source", "Origin of the entry"),
        ("license", "SPDX identifier; `unknown` by default"),
    ]
    .into();
    page.extend(fields.into_iter().map(|(field, content)| format!("| `{field}` | {content} |\n")));
    page
}

fn formats() -> String {
    let mut page = "\n## Formats for import\n\n`create_dataset` detects the format unless `format` names one.\n\n| Format | Content |\n|---|---|\n".to_owned();
    page.extend(
        Format::all()
            .map(|format| format!("| `{}` | {} |\n", format.name(), format.meta().description)),
    );
    let Limits { max_bytes, max_entries, max_entry_bytes, .. } = Limits::default();
    page.extend([format!(
        "\nFields are recognised by common names (`prompt`, `question`, `goal`, `category` ...). `field_mapping` maps other names to ours \
         (`{{\"frage\": \"value\"}}`), to `metadata.NAME`, or to `ignore`; what is not mapped becomes metadata. A bad record is skipped and \
         listed with its line, and so is a record that was read before. A text may have {} MiB, {max_entries} entries, and {} KiB per entry. \
         YAML with aliases that expand too far and documents that are nested too deeply are rejected.\n",
        max_bytes >> 20,
        max_entry_bytes >> 10,
    )]);
    page
}
