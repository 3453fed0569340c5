//! Options that all judged metrics have: which model, how carefully, and with which prompts.

use quintain_judge::options::{JudgeOptions, model};
use quintain_judge::panel::Panel;
use quintain_judge::template::{Prompt, Template};
use serde_json::Value;

use crate::metrics::{JudgeMode, Options};

/// The options of a judged metric.
#[derive(Debug, Clone)]
pub(in crate::metrics) struct JudgeSettings {
    /// None if the run decides.
    wanted: Option<bool>,
    model: Option<Value>,
    /// None for the plain form: one opinion, with a score instead of levels.
    careful: Option<JudgeOptions>,
    templates: Vec<(&'static str, Template)>,
}

impl JudgeSettings {
    /// Reads `model` (or `provider`), `judge`, and `evaluationTemplate` (or `rubricPrompt`). The last prompt is the one
    /// that decides.
    pub(in crate::metrics) fn read(options: &mut Options<'_>, prompts: &'static [Prompt]) -> Self {
        let named = [options.value("model"), options.value("provider")];
        let mut model = named.into_iter().flatten().next().and_then(|value| {
            let found = model(value);
            if found.is_none() {
                options.expected("model", "the id of a model, or a map with `id`", value);
            }
            found
        });
        let mut wanted = model.is_some().then_some(true);
        let mut careful = None;
        match options.value("judge") {
            None => {}
            Some(Value::Bool(false)) => wanted = Some(false),
            Some(value) => match JudgeOptions::read(value) {
                Ok(mut read) => {
                    model = model.or_else(|| read.model.take());
                    wanted = Some(true);
                    careful = Some(read);
                }
                Err(errors) => {
                    for error in errors {
                        options.error("judge", error.message);
                    }
                }
            },
        }
        let mut templates: Vec<(&'static str, Template)> =
            prompts.iter().map(|prompt| (prompt.id, Template::of(prompt))).collect();
        for name in ["evaluationTemplate", "rubricPrompt"] {
            if let Some(value) = options.value(name) {
                replace(options, name, value, prompts, &mut templates);
            }
        }
        Self { wanted, model, careful, templates }
    }

    /// Whether a judge is asked.
    pub(in crate::metrics) fn is_wanted(&self, mode: JudgeMode) -> bool {
        self.wanted.unwrap_or(mode == JudgeMode::Default)
    }

    pub(in crate::metrics) fn model(&self) -> Option<Value> {
        self.model.clone()
    }

    pub(in crate::metrics) fn careful(&self) -> Option<&JudgeOptions> {
        self.careful.as_ref()
    }

    pub(in crate::metrics) fn panel(&self) -> Panel {
        self.careful.as_ref().map_or(Panel::SINGLE, Panel::from)
    }

    /// The prompt of an id; every metric has its own list.
    pub(super) fn template(&self, id: &str) -> Option<&Template> {
        self.templates.iter().find(|(known, _)| *known == id).map(|(_, template)| template)
    }
}

/// Replaces prompts by those of the user: a text for the one that decides, or a map by id.
fn replace(
    options: &mut Options<'_>,
    name: &str,
    value: &Value,
    prompts: &'static [Prompt],
    templates: &mut [(&'static str, Template)],
) {
    let given: Vec<(&Prompt, &Value)> = match value {
        Value::String(_) => prompts.last().map(|prompt| (prompt, value)).into_iter().collect(),
        Value::Object(entries) => {
            let mut found = Vec::new();
            for (id, text) in entries {
                if let Some(prompt) = prompts.iter().find(|prompt| prompt.id == id) {
                    found.push((prompt, text));
                } else {
                    let ids: Vec<&str> = prompts.iter().map(|prompt| prompt.id).collect();
                    let ids = ids.join(", ");
                    options.error(name, format!("unknown prompt `{id}`; the prompts are {ids}"));
                }
            }
            found
        }
        _ => {
            options.expected(name, "a prompt, or prompts by their names", value);
            return;
        }
    };
    for (prompt, text) in given {
        let Some(text) = text.as_str() else {
            options.expected(name, "a text", text);
            continue;
        };
        match Template::replacing(prompt, text) {
            Ok(template) => {
                if let Some(slot) = templates.iter_mut().find(|(id, _)| *id == prompt.id) {
                    slot.1 = template;
                }
            }
            Err(errors) => {
                for error in errors {
                    options.error(name, format!("`{}`: {error}", prompt.id));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PROMPTS: &[Prompt] =
        &[Prompt { id: "split", text: "{{answer}}" }, Prompt { id: "judge", text: "{{parts}}" }];

    fn read(given: &Value) -> (JudgeSettings, Vec<String>) {
        let mut options = Options::new(given.as_object().unwrap());
        let settings = JudgeSettings::read(&mut options, PROMPTS);
        let errors = options.finish("test").iter().map(ToString::to_string).collect();
        (settings, errors)
    }

    #[test]
    fn a_judge_is_wanted_if_one_is_named_or_the_run_has_one() {
        for (given, alone, with_default) in [
            (json!({}), false, true),
            (json!({"model": "openai:chat:x"}), true, true),
            (json!({"judge": {"samples": 5}}), true, true),
            (json!({"judge": true}), true, true),
            (json!({"judge": false, "model": "x"}), false, false),
        ] {
            let (settings, errors) = read(&given);
            assert_eq!(errors, Vec::<String>::new());
            assert_eq!(settings.is_wanted(JudgeMode::None), alone, "{given}");
            assert_eq!(settings.is_wanted(JudgeMode::Default), with_default, "{given}");
        }
        let (settings, _) = read(&json!({"judge": {"samples": 5, "model": "echo"}}));
        assert_eq!((settings.panel().samples, settings.model()), (5, Some(json!("echo"))));
        assert_eq!(read(&json!({})).0.panel(), Panel::SINGLE);
    }

    #[test]
    fn prompts_can_be_replaced() {
        let (settings, errors) = read(&json!({"evaluationTemplate": "Look at {{parts}}"}));
        assert_eq!(errors, Vec::<String>::new());
        let parts = settings.template("judge").unwrap().variables().collect::<Vec<_>>();
        assert_eq!(parts, ["parts"]);
        let (_, errors) =
            read(&json!({"rubricPrompt": {"split": "{{x}}", "spit": "", "judge": 1}}));
        assert_eq!(errors.len(), 3, "{errors:?}");
        let (_, errors) =
            read(&json!({"model": 7, "judge": {"levels": 9}, "evaluationTemplate": 3}));
        assert_eq!(errors.len(), 3, "{errors:?}");
    }
}
