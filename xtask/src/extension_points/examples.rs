//! The examples: the text of the new file, and the lines that register it. Which files that are is in CONTRIBUTING.md.

use std::path::PathBuf;

use super::copy::Overlay;
use super::proofs::{self, Binary};
use super::recipes::Recipe;
use crate::Result;

pub(super) struct Example {
    /// As the heading in CONTRIBUTING.md calls it.
    pub(super) point: &'static str,
    /// The name of the new module.
    module: &'static str,
    /// The text of the new file.
    source: &'static str,
    lines: &'static [Line],
    /// Uses it through the binary, and says what that proved.
    pub(super) prove: fn(&Binary) -> Result<String>,
}

/// A line that is added to a listed file.
struct Line {
    /// The line above it, which only one of the listed files has.
    after: &'static str,
    text: &'static str,
}

pub(super) const EXAMPLES: &[Example] = &[
    Example {
        point: "assertion",
        module: "ends_with",
        source: include_str!("../../extension-points/assertion.rs"),
        lines: &[
            Line { after: "mod cost;", text: "mod ends_with;" },
            Line { after: "    &starts_with::STARTS_WITH,", text: "    &ends_with::ENDS_WITH," },
        ],
        prove: proofs::assertion,
    },
    Example {
        point: "attack",
        module: "untyped_result",
        source: include_str!("../../extension-points/attack.rs"),
        lines: &[
            Line { after: "mod unsafe_url_scheme;", text: "mod untyped_result;" },
            Line {
                after: "    &unsafe_url_scheme::UnsafeUrlScheme,",
                text: "    &untyped_result::UntypedResult,",
            },
        ],
        prove: proofs::attack,
    },
    Example {
        point: "target kind",
        module: "constant",
        source: include_str!("../../extension-points/target-kind.rs"),
        lines: &[
            Line { after: "mod code;", text: "mod constant;" },
            Line { after: "    &suite::CodeKind,", text: "    &constant::Constant," },
        ],
        prove: proofs::target_kind,
    },
    Example {
        point: "reporter",
        module: "tap",
        source: include_str!("../../extension-points/reporter.rs"),
        lines: &[
            Line { after: "mod sarif;", text: "mod tap;" },
            Line { after: "    &sarif::Sarif,", text: "    &tap::Tap," },
        ],
        prove: proofs::reporter,
    },
    Example {
        point: "command",
        module: "count",
        source: include_str!("../../extension-points/command.rs"),
        lines: &[
            Line { after: "mod conclude;", text: "mod count;" },
            Line { after: "    Completions(completions::Args),", text: "    Count(count::Args)," },
            Line {
                after: "        Command::Diff(args) => diff::run(args, app).await,",
                text: "        Command::Count(args) => count::run(args, app).await,",
            },
        ],
        prove: proofs::command,
    },
    Example {
        point: "check of traces",
        module: "result_empty",
        source: include_str!("../../extension-points/check.rs"),
        lines: &[
            Line { after: "mod resource_unused;", text: "mod result_empty;" },
            Line {
                after: "    &result_unused::ResultUnused,",
                text: "    &result_empty::ResultEmpty,",
            },
        ],
        prove: proofs::check_of_traces,
    },
    Example {
        point: "metric",
        module: "answer_length",
        source: include_str!("../../extension-points/metric.rs"),
        lines: &[
            Line { after: "mod argument_correctness;", text: "mod answer_length;" },
            Line {
                after: "    &pattern_match::PatternMatch,",
                text: "    &answer_length::AnswerLength,",
            },
        ],
        prove: proofs::metric,
    },
    Example {
        point: "trace reader",
        module: "question_answer",
        source: include_str!("../../extension-points/trace-reader.rs"),
        lines: &[
            Line { after: "mod promptfoo;", text: "mod question_answer;" },
            Line {
                after: "    &openai_chat::OpenAiChat,",
                text: "    &question_answer::QuestionAnswer,",
            },
        ],
        prove: proofs::trace_reader,
    },
];

impl Example {
    /// Writes the example into the listed files, and returns them; the new one comes last.
    pub(super) fn apply(&self, recipe: &Recipe, overlay: &mut Overlay) -> Result<Vec<PathBuf>> {
        let wrong = |what: String| format!("CONTRIBUTING.md, \"{}\": {what}", self.point);
        let is_new = |file: &&String| file.contains("NAME");
        let new: Vec<PathBuf> =
            recipe.files.iter().filter(is_new).map(|file| self.named(file)).collect();
        let [new] = new.as_slice() else {
            return Err(wrong("the list must name one new file, with NAME in its path".into()));
        };
        overlay.create(new, self.source).map_err(wrong)?;
        let existing = recipe.files.iter().filter(|file| !is_new(file));
        let existing: Vec<PathBuf> = existing.map(PathBuf::from).collect();
        let mut used = vec![false; existing.len()];
        for Line { after, text } in self.lines {
            let mut places = Vec::new();
            for (at, file) in existing.iter().enumerate() {
                if overlay.text(file).map_err(wrong)?.lines().any(|line| line == *after) {
                    places.push(at);
                }
            }
            let [place] = places[..] else {
                let found = places.len();
                return Err(wrong(format!("{found} listed files have the line `{after}`, not 1")));
            };
            overlay.insert(&existing[place], after, text).map_err(wrong)?;
            used[place] = true;
        }
        if let Some(at) = used.iter().position(|used| !used) {
            let file = existing[at].display();
            return Err(wrong(format!("{file} is listed, but nothing has to change there")));
        }
        Ok(existing.into_iter().chain([new.clone()]).collect())
    }

    fn named(&self, file: &str) -> PathBuf {
        PathBuf::from(file.replace("NAME", self.module))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const EXAMPLE: Example = Example {
        point: "word",
        module: "hello",
        source: "new\n",
        lines: &[Line { after: "mod a;", text: "mod hello;" }],
        prove: |_| Ok(String::new()),
    };

    fn applied(files: &[&str]) -> Result<(Vec<PathBuf>, Overlay)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/extension_points/testdata");
        let mut overlay = Overlay::new(&root);
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let recipe = Recipe { point: "word".to_owned(), files };
        EXAMPLE.apply(&recipe, &mut overlay).map(|files| (files, overlay))
    }

    #[test]
    fn a_list_that_is_too_short_or_too_long_is_reported() {
        let (files, mut overlay) = applied(&["NAME.txt", "registry.txt"]).expect("a right list");
        assert_eq!(files, [PathBuf::from("registry.txt"), PathBuf::from("hello.txt")]);
        let text = overlay.text(Path::new("registry.txt")).expect("a text");
        assert_eq!(text, "mod a;\nmod hello;\nmod b;\n");
        for wrong in [
            &["NAME.txt"][..],
            &["registry.txt"],
            &["NAME.txt", "registry.txt", "other.txt"],
            &["NAME.txt", "registry.txt", "missing.txt"],
        ] {
            assert!(applied(wrong).is_err(), "{wrong:?}");
        }
    }
}
