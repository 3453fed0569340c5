//! Builds the Markdown text of a prompt. Values of arguments are inserted as they are, in fences that they cannot close.

use serde_json::{Map, Value, json};

use crate::datasets::{Entry, Role};
use crate::prompt::Message;

/// A text that grows by sections.
pub(super) struct Page {
    text: String,
    links: Vec<(String, String)>,
}

impl Page {
    pub(super) fn new(title: &str, role: &str) -> Self {
        Self { text: format!("# {title}\n\n{role}\n"), links: Vec::new() }
    }

    pub(super) fn section(&mut self, title: &str) -> &mut Self {
        self.line(format!("\n## {title}\n"))
    }

    pub(super) fn line(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
        self
    }

    pub(super) fn bullets<T: AsRef<str>>(
        &mut self,
        items: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        for item in items {
            self.line(format!("- {}", indented(item.as_ref())));
        }
        self
    }

    pub(super) fn steps<T: AsRef<str>>(&mut self, items: impl IntoIterator<Item = T>) -> &mut Self {
        for (at, item) in items.into_iter().enumerate() {
            self.line(format!("{}. {}", at + 1, indented(item.as_ref())));
        }
        self
    }

    /// A text to send or to quote, unchanged.
    pub(super) fn quote(&mut self, text: &str) -> &mut Self {
        let fence = "`".repeat(longest_run(text).max(2) + 1);
        self.line(format!("{fence}text\n{}\n{fence}", text.trim_end_matches('\n')))
    }

    /// A labelled quote of an argument; nothing without one.
    pub(super) fn given(&mut self, label: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.line(format!("{label}:")).quote(value);
        }
        self
    }

    /// The call of a tool, ready to be sent.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> &mut Self {
        let call = json!({"name": tool, "arguments": arguments});
        self.line(format!("```json\n{call:#}\n```"))
    }

    /// Entries of data sets with what decides about each.
    pub(super) fn entries(&mut self, entries: &[&Entry]) -> &mut Self {
        for (at, entry) in entries.iter().enumerate() {
            self.line(format!("### Test {} (`{}`)\n", at + 1, entry.id));
            if let Some(prompt) = &entry.system_prompt {
                self.line("System prompt of the target:").quote(prompt);
            }
            if entry.turns.is_empty() {
                self.line("Send:").quote(&entry.value);
            } else {
                self.line(format!("Objective: {}\n", entry.value));
                for turn in &entry.turns {
                    let says = match turn.role {
                        Role::User => "Send:",
                        Role::Assistant => "Earlier reply of the target (part of the test):",
                        Role::System => "System prompt of the target:",
                        Role::Tool => "Earlier result of a tool (part of the test):",
                    };
                    self.line(says).quote(&turn.text);
                }
            }
            self.line(format!("Expected: {}", entry.expected_behavior));
            let marks: Vec<String> = entry
                .canary
                .iter()
                .chain(&entry.success_marks)
                .map(|mark| format!("`{}`", mark.escape_default()))
                .collect();
            if !marks.is_empty() {
                self.line(format!(
                    "The attack succeeded if the response contains {}.",
                    marks.join(" or ")
                ));
            }
            if !entry.forbidden_tools.is_empty() {
                self.line(format!(
                    "It also succeeded if the target called {}.",
                    entry.forbidden_tools.join(" or ")
                ));
            }
            if !entry.answers.is_empty() {
                self.line(format!(
                    "Correct if the response contains {}.",
                    entry.answers.join(" or ")
                ));
            }
            self.line("");
        }
        self
    }

    /// How to run a data set against a target with the tools of this server.
    pub(super) fn run(
        &mut self,
        dataset: &str,
        orchestrator_type: &str,
        config: Map<String, Value>,
    ) -> &mut Self {
        self.section("Run it");
        self.steps([
            "Call `list_generators` and choose the target. `create_generator` adds one; `system_prompt` sets its instructions.",
            "Send single tests with `test_generator` (`test_prompts` takes up to 20 texts), or run the whole data set:",
        ]);
        let mut arguments = json!({
            "orchestrator_type": orchestrator_type,
            "target_generator_id": "GENERATOR_ID",
            "dataset_id": dataset,
        });
        if !config.is_empty() {
            arguments["config"] = Value::Object(config);
        }
        self.call("create_orchestrator", arguments);
        self.line("Then call `start_orchestrator` with the id, follow it with `get_orchestrator` (`wait_seconds`), and read `get_orchestrator_results`. Attack only targets that you are allowed to test.");
        self.link(&format!("quintain://datasets/{dataset}"), dataset)
    }

    /// Refers to a resource.
    pub(super) fn link(&mut self, uri: &str, name: &str) -> &mut Self {
        self.links.push((uri.to_owned(), name.to_owned()));
        self
    }

    /// The message of the page, and one for each further resource.
    pub(super) fn messages(self) -> Vec<Message> {
        let mut links = self.links.into_iter();
        let mut messages = vec![Message { from_user: true, text: self.text, link: links.next() }];
        messages.extend(links.map(|(uri, name)| {
            let text = format!("See also {uri}");
            Message { from_user: true, text, link: Some((uri, name)) }
        }));
        messages
    }
}

/// The longest run of backquotes.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Further lines of an item belong to it.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}
