//! Reads the entries of `strategies:` in a suite: a name, or a map with `id` and `config`.

use quintain_evidence::probe::Probe;
use quintain_source::closest;
use serde_json::{Map, Value, json};

use super::flaw::{Flaw, Mistake};
use super::lift::{self, Reach, Skipped};
use super::options::{Options, describe};
use super::strategy::{Receiver, Strategy, StrategyKind, Suits};
use super::{all, find};

/// Names of collections of strategies.
const COLLECTIONS: [(&str, &[&str]); 2] = [
    ("default", &["basic", "pair", "composite"]),
    ("other-encodings", &["camelcase", "morse", "piglatin", "emoji"]),
];

/// A strategy with its options.
#[derive(Debug)]
pub struct Tactic {
    pub strategy: &'static dyn Strategy,
    /// Attacks it is applied to; empty for all. `harmful` includes `harmful:...`.
    pub plugins: Vec<String>,
    /// Maximum number of probes to create.
    pub num_tests: Option<usize>,
    suits: Suits,
    kind: StrategyKind,
}

impl std::fmt::Debug for dyn Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.meta().id)
    }
}

/// Reads a list of strategies. Pointers of errors start at the list.
///
/// # Errors
/// All errors.
pub fn parse_all(list: &[Value]) -> Result<Vec<Tactic>, Vec<Mistake>> {
    let mut tactics = Vec::new();
    let mut mistakes = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        match parse(entry) {
            Ok(parsed) => tactics.extend(parsed),
            Err(flaws) => mistakes.extend(flaws.into_iter().map(|mistake| Mistake {
                pointer: format!("/{index}{}", mistake.pointer),
                ..mistake
            })),
        }
    }
    if mistakes.is_empty() { Ok(tactics) } else { Err(mistakes) }
}

/// Reads one entry. A collection yields several strategies.
///
/// # Errors
/// All errors.
pub fn parse(entry: &Value) -> Result<Vec<Tactic>, Vec<Mistake>> {
    let nothing = Map::new();
    let mistake = |pointer: &str, flaw| vec![Mistake { pointer: pointer.to_owned(), flaw }];
    let (id, config, at) = match entry {
        Value::String(id) => (id.as_str(), &nothing, ""),
        Value::Object(map) => {
            let id = match map.get("id") {
                Some(Value::String(id)) => id.as_str(),
                Some(other) => {
                    let found = describe(other);
                    return Err(mistake("/id", Flaw::NotAnEntry { found }));
                }
                None => return Err(mistake("", Flaw::NotAnEntry { found: "a map without `id`" })),
            };
            if let Some(key) = map.keys().find(|key| !["id", "config"].contains(&key.as_str())) {
                let closest = closest(key, ["id", "config"]);
                let (strategy, option) = ("strategies", key.clone());
                let flaw = Flaw::UnknownOption { strategy, option, closest };
                return Err(mistake(&format!("/{key}"), flaw));
            }
            match map.get("config") {
                None | Some(Value::Null) => (id, &nothing, "/id"),
                Some(Value::Object(config)) => (id, config, "/id"),
                Some(other) => {
                    let (option, wanted) = ("config".to_owned(), "a map".to_owned());
                    let found = describe(other);
                    return Err(mistake(
                        "/config",
                        Flaw::WrongType { option, wanted, found: found.to_owned() },
                    ));
                }
            }
        }
        other => return Err(mistake("", Flaw::NotAnEntry { found: describe(other) })),
    };
    if let Some((_, members)) = COLLECTIONS.iter().find(|(name, _)| *name == id) {
        let members = members.iter().filter_map(|name| find(name));
        return members.map(|strategy| compile(strategy, config)).collect();
    }
    let Some(strategy) = find(id).or_else(|| find_variant(id)) else {
        let name = id.to_owned();
        return Err(mistake(
            at,
            if id.starts_with("file://") {
                Flaw::File { name }
            } else {
                Flaw::UnknownStrategy { name, closest: closest(id, names()) }
            },
        ));
    };
    Ok(vec![compile(strategy, config)?])
}

/// `custom:anything` is `custom` under another name.
fn find_variant(id: &str) -> Option<&'static dyn Strategy> {
    id.strip_prefix("custom:").and_then(|_| find("custom"))
}

fn names() -> impl Iterator<Item = &'static str> {
    let built_in = all().iter().flat_map(|strategy| {
        let meta = strategy.meta();
        std::iter::once(meta.id).chain(meta.aliases.iter().copied())
    });
    built_in.chain(COLLECTIONS.iter().map(|(name, _)| *name))
}

/// The JSON Schema of the options of a strategy, without those that all strategies have.
pub fn options_of(strategy: &'static dyn Strategy) -> Value {
    let config = Map::new();
    let mut options = Options::new(strategy.meta().id, &config, "/config");
    strategy.compile(&mut options);
    json!({"type": "object", "properties": options.schemas(), "additionalProperties": false})
}

fn compile(
    strategy: &'static dyn Strategy,
    config: &Map<String, Value>,
) -> Result<Tactic, Vec<Mistake>> {
    let id = strategy.meta().id;
    let mut options = Options::new(id, config, "/config");
    let plugins = options.texts("plugins").unwrap_or_default();
    let num_tests = options.maybe_whole("numTests", 1..=100_000);
    let kind = strategy.compile(&mut options);
    let suits = strategy.suits().and(options.narrowed());
    let mistakes = options.finish();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok(Tactic { strategy, plugins, num_tests, suits, kind })
}

impl Tactic {
    pub fn id(&self) -> &'static str {
        self.strategy.meta().id
    }

    /// The receivers it applies to, considering its steps.
    pub fn suits(&self) -> Suits {
        self.suits
    }

    pub fn kind(&self) -> &StrategyKind {
        &self.kind
    }

    pub(super) fn into_way(self) -> StrategyKind {
        self.kind
    }

    /// Whether it is applied to the probes of an attack.
    pub fn covers(&self, plugin: &str) -> bool {
        let is = |name: &String| {
            plugin.strip_prefix(name.as_str()).is_some_and(|r| r.is_empty() || r.starts_with(':'))
        };
        self.plugins.is_empty() || self.plugins.iter().any(is)
    }

    /// Whether it applies to such a receiver.
    ///
    /// # Errors
    /// The reason if it does not.
    pub fn check(&self, receiver: Receiver) -> Result<(), Skipped> {
        let strategy = self.id();
        match &self.kind {
            StrategyKind::Missing(missing) => Err(Skipped::Missing { strategy, missing: *missing }),
            StrategyKind::Keep { enabled: false } => Err(Skipped::Off { strategy }),
            _ if self.suits.includes(receiver) => Ok(()),
            _ => Err(Skipped::Unsuited { strategy, suits: self.suits.describe() }),
        }
    }

    /// The versions of a probe: at least one, and none equal to the probe itself unless the strategy sends it
    /// unchanged.
    ///
    /// # Errors
    /// The reason if there are none.
    pub fn rewrite(
        &self,
        probe: &Probe,
        reach: Reach<'_>,
        seed: u64,
    ) -> Result<Vec<Probe>, Skipped> {
        let strategy = self.id();
        match &self.kind {
            StrategyKind::Keep { enabled: true } => Ok(vec![probe.clone()]),
            StrategyKind::Keep { enabled: false } => Err(Skipped::Off { strategy }),
            StrategyKind::Rewrite(rewrite) => {
                lift::lift(probe, reach, |text| rewrite.texts(text, seed))
            }
            StrategyKind::Missing(missing) => Err(Skipped::Missing { strategy, missing: *missing }),
            StrategyKind::Talk(_) | StrategyKind::Retry => Err(Skipped::NoRewriting { strategy }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flaw(entry: Value) -> (String, String) {
        let mistakes = parse(&entry).unwrap_err();
        (mistakes[0].pointer.clone(), mistakes[0].to_string())
    }

    #[test]
    fn names_aliases_and_maps_are_read() {
        assert_eq!(parse(&json!("base64")).unwrap()[0].id(), "base64");
        assert_eq!(parse(&json!("jailbreak:tree")).unwrap()[0].id(), "tap");
        let entry =
            json!({"id": "caesar", "config": {"offset": 5, "plugins": ["pii"], "numTests": 2}});
        let tactic = &parse(&entry).unwrap()[0];
        assert_eq!((tactic.id(), tactic.num_tests), ("caesar", Some(2)));
        assert!(tactic.covers("pii") && tactic.covers("pii:direct"));
        assert!(!tactic.covers("piiish") && !tactic.covers("ssrf"));
    }

    #[test]
    fn collections_are_several() {
        let ids: Vec<_> =
            parse(&json!("other-encodings")).unwrap().iter().map(Tactic::id).collect();
        assert_eq!(ids, ["camelcase", "morse", "piglatin", "emoji"]);
        for (name, members) in COLLECTIONS {
            assert_eq!(parse(&json!(name)).unwrap().len(), members.len(), "{name}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let told = |pointer: &str, text: &str| (pointer.to_owned(), text.to_owned());
        assert_eq!(
            flaw(json!("bse64")),
            told("", "unknown strategy `bse64`; did you mean `base64`?")
        );
        assert_eq!(flaw(json!({"id": "zzzzzzzz"})), told("/id", "unknown strategy `zzzzzzzz`"));
        assert_eq!(
            flaw(json!(7)),
            told("", "expected the name of a strategy or a map with `id`, not a number")
        );
        assert_eq!(
            flaw(json!({"id": "hex", "confg": {}})),
            told("/confg", "`strategies` has no option `confg`; did you mean `config`?")
        );
        assert_eq!(
            flaw(json!({"id": "hex", "config": []})),
            told("/config", "`config` must be a map, not a list")
        );
        assert_eq!(
            flaw(json!("file://mine.js")),
            told("", "strategies in files are not supported: `file://mine.js`")
        );
        let all = parse_all(&[json!("hex"), json!("hx"), json!({"id": "hex", "config": {"a": 1}})]);
        let places: Vec<_> = all.unwrap_err().into_iter().map(|it| it.pointer).collect();
        assert_eq!(places, ["/1", "/2/config/a"]);
    }

    #[test]
    fn what_is_skipped_is_told() {
        let reason = |name: &str, receiver| {
            parse(&json!(name)).unwrap()[0].check(receiver).unwrap_err().to_string()
        };
        assert_eq!(
            reason("morse", Receiver::Arguments),
            "`morse` applies only to models and agents"
        );
        assert!(reason("audio", Receiver::Model).starts_with("`audio` needs "));
        let off = &parse(&json!({"id": "basic", "config": {"enabled": false}})).unwrap()[0];
        assert_eq!(off.check(Receiver::Model).unwrap_err().to_string(), "`basic` is disabled");
    }
}
