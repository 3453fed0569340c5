//! Phrases that the house style replaces by plainer ones, searched in every text that a reader meets: pages,
//! example suites, comments and string literals. Code itself is not searched.

mod prose;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use crate::{Result, stage::Note, workspace::Workspace};
use words::{Pattern, Word};

/// Pages whose text comes from Rust sources. They are checked with those sources.
const GENERATED: &[&str] = &[
    "bench/RESULTS.md",
    "docs/reference/assertions.md",
    "docs/reference/attacks.md",
    "docs/reference/checks.md",
    "docs/reference/metrics.md",
    "docs/reference/recall.md",
    "docs/reference/reporters.md",
    "docs/reference/strategies.md",
    "docs/reference/trace-formats.md",
];

/// Files that are not prose of this project: recorded or expected output, and the table below.
const NOT_SEARCHED: &[&str] = &[
    "crates/quintain/tests/corpus/",
    "crates/quintain/tests/it/cases/",
    "xtask/src/phrases.rs",
    "xtask/src/phrases/",
];
/// Prose below the folders of `NOT_SEARCHED`.
const SEARCHED_ANYWAY: &[&str] =
    &["crates/quintain/tests/corpus/README.md", "crates/quintain/tests/it/cases/README.md"];

/// Places where a phrase is right: file, phrase as it is written there, reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("crates/quintain-content/src/detect/tests.rs", "party", "text without personal data"),
    ("crates/quintain-content/src/detect/tests.rs", "goes on", "text without personal data"),
    ("crates/quintain-content/src/markup/well_formed.rs", "go on", "a processing instruction"),
    ("crates/quintain-content/src/sql/mod.rs", "Tell", "text that is not SQL"),
    ("crates/quintain-content/src/text/meteor.rs", "party", "a published example of the metric"),
    ("crates/quintain-grade/src/consent.rs", "tell", "a pattern for questions of users"),
    (
        "crates/quintain-grade/src/consent/verbs.rs",
        "tell",
        "a word with which users ask for a message",
    ),
    (
        "crates/quintain-grade/src/checks/policy_injection_followed.rs",
        "tell",
        "a pattern for instructions in results",
    ),
    (
        "crates/quintain-grade/src/checks/policy_injection_followed.rs",
        "telling",
        "a pattern for instructions in results",
    ),
    ("crates/quintain-grade/src/statements.rs", "tell", "a pattern for questions to users"),
    ("crates/quintain-grade/src/values/prose.rs", "tell", "a pattern for offers to users"),
    ("crates/quintain-grade/tests/mutation/conduct.rs", "tell", "an instruction in a result"),
    ("crates/quintain-grade/src/statements.rs", "told", "a pattern for claims of success"),
    (
        "crates/quintain-redteam/src/attacks/output_injection.rs",
        "tell",
        "a pattern for instructions in results",
    ),
    ("crates/quintain-redteam/src/attacks/tool_poisoning.rs", "tell", "a poisoned description"),
    (
        "crates/quintain-redteam/src/attacks/tool_poisoning/wording.rs",
        "tell",
        "a pattern for poisoned text",
    ),
    (
        "crates/quintain-redteam/src/attacks/tool_poisoning/wording.rs",
        "told",
        "a pattern for poisoned text",
    ),
    (
        "crates/quintain-redteam/src/attacks/tool_poisoning/wording.rs",
        "telling",
        "a sample of poisoned text",
    ),
];

struct Phrase {
    /// Patterns of words, see [`Pattern`].
    find: &'static [&'static str],
    /// Longer patterns in which the phrase is fine.
    except: &'static [&'static str],
    write: &'static str,
}

const PHRASES: &[Phrase] = &[
    Phrase {
        find: &["go|goes|going|gone|went on with", "go|goes|gone|went on", "run|runs|ran on with"],
        except: &["what is going on", "go|goes|went on the"],
        write: "resume, continue, proceed",
    },
    Phrase {
        find: &["tell|tells|told|telling", "say|says|said|saying so"],
        except: &[],
        write: "report, print, show, list, warn; distinguish",
    },
    Phrase {
        find: &["where chance begins", "by chance", "chance decides|does|explains"],
        except: &[],
        write: "random seed; N randomly chosen tests",
    },
    Phrase {
        find: &["so many"],
        except: &["so many that"],
        write: "the number: N times, the first N tests",
    },
    Phrase {
        find: &[
            "is|are|was no address|addresses",
            "`|this|that|it|which is no *",
            "is|are no regular expression|expressions",
            "is|are no valid",
        ],
        except: &[
            "there is|are|was no",
            "is no longer|more|less|better|worse|slower|faster|way|need|reason|point|use",
        ],
        write: "is not a valid ..., invalid ...",
    },
    Phrase {
        find: &["wants"],
        except: &["user|reader|caller|one|who|whoever wants"],
        write: "expects, expected, needs, requires",
    },
    Phrase { find: &["mend|mends|mended|mending"], except: &[], write: "fix, fixed, remediated" },
    Phrase {
        find: &[
            "hold|holds|held|holding a|an|the|this|these|those|no|one|two|three|what|whatever|all|any|every|everything|something|nothing|only|both|more|it|them|its|their|neither|exactly|at|up|several|many|some|`|#",
            "answer|answers|file|files|folder|folders|page|pages|text|texts|result|results|list|lists|suite|suites|response holds|hold *",
        ],
        except: &[
            "hold|holds|held|holding a|an|the|this|its|no lock|locks|mutex|permit|permits|guard|borrow|write|read lock|guard",
            "hold|holds|held|holding a|an|the|this|its|no lock|locks|mutex|permit|permits|guard|borrow",
            "held at",
            "hold|holds|held up",
        ],
        write: "contains, has, stores, keeps",
    },
    Phrase {
        find: &["stand|stands|stood|standing"],
        except: &["stand|stands|stood|standing for|out", "standing stone"],
        write: "is, is in, is written in, is next to",
    },
    Phrase {
        find: &["at the same time", "beside"],
        except: &[],
        write: "in parallel, concurrently; next to",
    },
    Phrase {
        find: &["anew", "renew|renews|renewed|renewing|renewal|renewals"],
        except: &[],
        write: "overwrite, regenerate, refresh, rename, again",
    },
    Phrase {
        find: &["time is|was|were|be up", "time that is|was up"],
        except: &[],
        write: "time limit reached",
    },
    Phrase { find: &["could|may|might be ` or|and"], except: &[], write: "ambiguous: a, b" },
    Phrase { find: &["in the place|places of", "in place of"], except: &[], write: "instead of" },
    Phrase {
        find: &["nothing of its|the|this|that kind", "nobody to ask", "for want of", "for lack of"],
        except: &[],
        write: "without, not found, nothing matches, missing",
    },
    Phrase {
        find: &["weak and|or mended|fixed", "weak twin|twins|one|ones|server|servers"],
        except: &[],
        write: "vulnerable, vulnerable and fixed",
    },
    Phrase {
        find: &[
            "party|parties",
            "somebody|someone|anybody|anyone else",
            "of others",
            "somebody else's",
        ],
        except: &["third|first party|parties", "party of others"],
        write: "identity, principal, user, another user's",
    },
    Phrase {
        find: &["come|comes|came again", "came|come|comes of it", "what came of"],
        except: &[],
        write: "reproduces; result",
    },
];

/// A phrase found in a text.
struct Hit {
    file: PathBuf,
    line: usize,
    text: String,
    write: &'static str,
}

impl Hit {
    fn shown(&self) -> String {
        let Self { file, line, text, write } = self;
        format!("{}:{line}: \"{text}\"; write: {write}", file.display())
    }
}

/// Fails on every phrase.
pub(crate) fn check(workspace: &Workspace) -> Result<Note> {
    let found = search(workspace)?;
    let mut complaints: Vec<String> = found.hits.iter().map(Hit::shown).collect();
    complaints.extend(found.unused_excuses());
    if complaints.is_empty() {
        let note = format!("{} texts", found.files);
        println!("{note}: fine");
        return Ok(Some(note));
    }
    for complaint in &complaints {
        println!("- {complaint}");
    }
    Err(format!("{} phrase(s) to reword", complaints.len()))
}

/// Lists every phrase, and counts them by file.
pub(crate) fn list(workspace: &Workspace) -> Result<Note> {
    let found = search(workspace)?;
    let mut files: BTreeMap<&Path, usize> = BTreeMap::new();
    for hit in &found.hits {
        println!("{}", hit.shown());
        *files.entry(&hit.file).or_default() += 1;
    }
    println!();
    for (file, count) in files {
        println!("{count:5} {}", file.display());
    }
    Ok(Some(format!("{} phrases in {} texts", found.hits.len(), found.files)))
}

struct Found {
    files: usize,
    hits: Vec<Hit>,
    /// Positions in `ALLOWED` that were needed.
    used: BTreeSet<usize>,
}

impl Found {
    /// An excuse that excuses nothing hides the next mistake.
    fn unused_excuses(&self) -> Vec<String> {
        let unused = ALLOWED.iter().enumerate().filter(|(at, _)| !self.used.contains(at));
        unused
            .map(|(_, (file, phrase, _))| {
                format!("{file}: \"{phrase}\" is allowed in xtask/src/phrases.rs but not found")
            })
            .collect()
    }
}

fn search(workspace: &Workspace) -> Result<Found> {
    let table = Table::new();
    let mut found = Found { files: 0, hits: Vec::new(), used: BTreeSet::new() };
    for file in workspace.files()? {
        let shown = file.display().to_string();
        let Some(kind) = Kind::of(&shown) else { continue };
        let text = fs::read_to_string(workspace.root.join(&file))
            .map_err(|error| format!("{shown}: {error}"))?;
        found.files += 1;
        for (line, text, write) in table.search(&kind.passages(&text)) {
            let excuse = ALLOWED.iter().position(|(f, phrase, _)| *f == shown && *phrase == text);
            match excuse {
                Some(at) => {
                    found.used.insert(at);
                }
                None => found.hits.push(Hit { file: file.clone(), line, text, write }),
            }
        }
    }
    Ok(found)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Markdown,
    Rust,
    /// An example suite, whose descriptions and comments are read by users.
    Yaml,
}

impl Kind {
    fn of(file: &str) -> Option<Self> {
        let left_out = |list: &[&str]| list.iter().any(|start| file.starts_with(start));
        if GENERATED.contains(&file) || (left_out(NOT_SEARCHED) && !SEARCHED_ANYWAY.contains(&file))
        {
            return None;
        }
        match file.rsplit_once('.')?.1 {
            "md" => Some(Self::Markdown),
            "rs" => Some(Self::Rust),
            "yaml" | "yml" if file.starts_with("examples/") => Some(Self::Yaml),
            _ => None,
        }
    }

    fn passages(self, text: &str) -> Vec<Vec<Word>> {
        match self {
            Self::Markdown => prose::markdown(text),
            Self::Rust => prose::rust(text),
            Self::Yaml => prose::yaml(text),
        }
    }
}

/// The phrases, ready to be searched: by the words that a match can begin with.
struct Table {
    by_first: HashMap<&'static str, Vec<(Pattern, usize)>>,
    exceptions: Vec<Vec<Pattern>>,
}

impl Table {
    fn new() -> Self {
        let mut by_first: HashMap<&'static str, Vec<(Pattern, usize)>> = HashMap::new();
        for (index, phrase) in PHRASES.iter().enumerate() {
            for find in phrase.find {
                let pattern = Pattern::new(find);
                for first in pattern.first() {
                    by_first.entry(first).or_default().push((pattern.clone(), index));
                }
            }
        }
        let exceptions = |phrase: &Phrase| phrase.except.iter().map(|text| Pattern::new(text));
        let exceptions = PHRASES.iter().map(|phrase| exceptions(phrase).collect()).collect();
        Self { by_first, exceptions }
    }

    /// Line, words as written and advice for every phrase. Matches do not overlap.
    fn search(&self, passages: &[Vec<Word>]) -> Vec<(usize, String, &'static str)> {
        let mut hits = Vec::new();
        for words in passages {
            let mut at = 0;
            while at < words.len() {
                let Some((length, index)) = self.longest(words, at) else {
                    at += 1;
                    continue;
                };
                let texts: Vec<&str> =
                    words[at..at + length].iter().map(|word| word.text.as_str()).collect();
                hits.push((words[at].line, texts.join(" "), PHRASES[index].write));
                at += length;
            }
        }
        hits
    }

    fn longest(&self, words: &[Word], at: usize) -> Option<(usize, usize)> {
        let candidates = self.by_first.get(words[at].key.as_str())?;
        let matches = candidates.iter().filter_map(|(pattern, index)| {
            let length = pattern.length_at(words, at)?;
            (!self.is_fine(*index, words, at, length)).then_some((length, *index))
        });
        matches.max_by_key(|(length, _)| *length)
    }

    /// Whether an exception shares a word with the match.
    fn is_fine(&self, index: usize, words: &[Word], at: usize, length: usize) -> bool {
        self.exceptions[index].iter().any(|exception| {
            let first = (at + 1).saturating_sub(exception.len());
            (first..at + length).any(|start| exception.length_at(words, start).is_some())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(text: &str) -> Vec<String> {
        let table = Table::new();
        table.search(&prose::markdown(text)).into_iter().map(|(_, text, _)| text).collect()
    }

    #[test]
    fn phrases_of_the_table_are_found() {
        let wrong = [
            "An interrupted run is gone on with.",
            "The report tells which tests failed.",
            "You are told if the file changed.",
            "It runs so many tests by chance.",
            "`x` is no address.",
            "It wants a number above 0.",
            "Findings that are mended.",
            "The answer holds 42.",
            "A file that holds the names.",
            "What stands in the suite.",
            "Two calls at the same time.",
            "A folder beside the suite.",
            "Write the page anew.",
            "To renew a token.",
            "The time was up.",
            "`a` could be `b` or `c`.",
            "Payloads in the place of values.",
            "There is nothing of its kind.",
            "There is nobody to ask.",
            "The weak twin.",
            "The data of somebody else.",
            "Each party calls once.",
            "It is confirmed if it comes again.",
        ];
        for text in wrong {
            assert!(!hits(text).is_empty(), "not found in: {text}");
        }
    }

    #[test]
    fn ordinary_english_is_left_alone() {
        let right = [
            "A threshold of 0.5; the household; a standard.",
            "One process holds the lock while the others wait.",
            "It is no longer listed.",
            "There is no file of that name.",
            "N stands for a number.",
            "A third-party server, or a third party.",
            "What is going on here?",
            "The rule holds for every call. Calls held back are listed.",
            "`tell` and `holds` are words in code.",
            "There is no address in the file.",
            "The caller wants a value, whoever wants it.",
        ];
        for text in right {
            assert_eq!(hits(text), Vec::<String>::new(), "in: {text}");
        }
    }

    #[test]
    fn a_phrase_may_wrap_and_is_reported_where_it_begins() {
        let table = Table::new();
        let found = table.search(&prose::markdown("one\nruns at the same\ntime\n"));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0, found[0].1.as_str()), (2, "at the same time"));
    }

    #[test]
    fn a_phrase_does_not_span_sentences() {
        assert!(hits("It ran in the place. Of course.").is_empty());
    }

    #[test]
    fn generated_pages_and_recorded_output_are_not_searched() {
        assert!(Kind::of("docs/reference/attacks.md").is_none());
        assert!(Kind::of("crates/quintain/tests/it/cases/scan/drift/expected/drift.md").is_none());
        assert_eq!(Kind::of("crates/quintain/tests/it/cases/README.md"), Some(Kind::Markdown));
        assert_eq!(Kind::of("examples/basic/quintain.yaml"), Some(Kind::Yaml));
        assert_eq!(Kind::of("crates/quintain/tests/it/main.rs"), Some(Kind::Rust));
    }
}
