//! Repeats probes of earlier runs. This module only selects them; the store has the runs.

use quintain_content::registry::Meta;
use quintain_evidence::probe::Probe;

use super::options::Options;
use super::strategy::{Strategy, Suits, Way};

pub(super) static RETRY: RetryStrategy = RetryStrategy;

pub(super) struct RetryStrategy;

impl Strategy for RetryStrategy {
    fn meta(&self) -> &'static Meta {
        &Meta {
            id: "retry",
            aliases: &[],
            summary: "Repeats probes that worked in earlier runs",
            docs: docs! {
                what: "Repeats probes of earlier runs against the same target, each once: first \
                       those that hit, then those with an unclear outcome, newest first. \
                       `targetIds` lists other targets whose probes to use.",
                why: "Fixed weaknesses reappear. Repeating the probe that found one costs a single \
                      call.",
                example: "strategies:\n  - id: retry\n    config:\n      numTests: 10",
            },
            since: "0.1.0",
        }
    }

    fn suits(&self) -> Suits {
        Suits::BOTH
    }

    fn compile(&self, options: &mut Options<'_>) -> Way {
        Way::Retry(Retry { targets: options.texts("targetIds").unwrap_or_default() })
    }
}

/// Which earlier probes to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Ids of targets; empty for the target under test.
    pub targets: Vec<String>,
}

/// The outcome of a probe in an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    Hit,
    /// An error, or no outcome that an oracle could judge.
    Unclear,
    /// The attack failed; there is nothing to repeat.
    Held,
}

/// A probe of an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    pub target: String,
    /// The attack that created it.
    pub plugin: String,
    pub probe: Probe,
    pub ended: Ended,
    /// Number of runs since.
    pub age: usize,
}

impl Retry {
    /// Selects the probes to repeat for an attack on a target.
    pub fn choose<'e>(
        &self,
        earlier: &'e [Earlier],
        target: &str,
        plugin: &str,
        limit: usize,
    ) -> Vec<&'e Earlier> {
        let wanted = |it: &&Earlier| {
            it.plugin == plugin
                && it.ended != Ended::Held
                && if self.targets.is_empty() {
                    it.target == target
                } else {
                    self.targets.contains(&it.target)
                }
        };
        let mut ranked: Vec<&Earlier> = earlier.iter().filter(wanted).collect();
        ranked.sort_by_key(|it| (it.ended, it.age));
        let mut chosen: Vec<&Earlier> = Vec::new();
        for it in ranked {
            if chosen.len() == limit {
                break;
            }
            if chosen.iter().all(|other| other.probe != it.probe) {
                chosen.push(it);
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(text: &str, ended: Ended, age: usize) -> Earlier {
        let (target, plugin) = ("t".to_owned(), "sql-injection".to_owned());
        Earlier { target, plugin, probe: Probe::Text(text.to_owned()), ended, age }
    }

    #[test]
    fn hits_come_first_and_each_probe_once() {
        let past = [
            earlier("old hit", Ended::Hit, 9),
            earlier("unclear", Ended::Unclear, 0),
            earlier("held", Ended::Held, 0),
            earlier("new hit", Ended::Hit, 1),
            earlier("new hit", Ended::Unclear, 0),
        ];
        let retry = Retry { targets: Vec::new() };
        let texts = |limit| -> Vec<Probe> {
            let chosen = retry.choose(&past, "t", "sql-injection", limit);
            chosen.into_iter().map(|it| it.probe.clone()).collect()
        };
        let expected = ["new hit", "old hit", "unclear"].map(|text| Probe::Text(text.to_owned()));
        assert_eq!(texts(10), expected);
        assert_eq!(texts(1), expected[..1]);
    }

    #[test]
    fn other_attacks_and_targets_are_left_alone() {
        let past = [earlier("x", Ended::Hit, 0)];
        let here = Retry { targets: Vec::new() };
        assert!(here.choose(&past, "t", "ssrf", 10).is_empty());
        assert!(here.choose(&past, "u", "sql-injection", 10).is_empty());
        let there = Retry { targets: vec!["t".to_owned()] };
        assert_eq!(there.choose(&past, "u", "sql-injection", 10).len(), 1);
    }
}
