//! Who offers models. One file per provider; the list `ALL` is what documentation, errors and configuration use.

mod anthropic;
mod azure;
mod client_sampling;
mod echo;
mod gemini;
mod huggingface;
mod ollama;
mod openai;
mod openai_compatible;
mod scripted;
mod unsupported;

use quintain_content::registry::Meta;
use quintain_source::closest;

use crate::config::ConfigError;
use crate::environment::Environment;
use crate::model::Model;
use crate::spec::ModelSpec;

/// A family of models that are configured alike.
pub trait Provider: Sync {
    fn meta(&self) -> &'static Meta;

    /// What ids start with, up to the first colon.
    fn words(&self) -> &'static [&'static str];

    fn answers_to(&self, id: &str) -> bool {
        self.words().contains(&word(id))
    }

    /// The environment variables that its key is read from.
    fn key_variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether it has models at all, or only errors that say what to use instead.
    fn is_supported(&self) -> bool {
        true
    }

    /// Whether its models have opinions of their own, so that they can judge if nobody else is named.
    fn can_judge(&self) -> bool {
        self.is_supported()
    }

    /// # Errors
    /// All mistakes in the spec.
    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>>;
}

pub static ALL: &[&dyn Provider] = &[
    &openai::OPENAI,
    &anthropic::ANTHROPIC,
    &azure::AZURE,
    &gemini::GEMINI,
    &ollama::OLLAMA,
    &huggingface::HUGGING_FACE,
    &openai_compatible::OPENAI_COMPATIBLE,
    &client_sampling::CLIENT_SAMPLING,
    // For tests of suites.
    &scripted::SCRIPTED,
    &echo::ECHO,
    // What is named with what it needs.
    &unsupported::UNSUPPORTED,
];

/// The provider that answers to an id.
pub fn find(id: &str) -> Option<&'static dyn Provider> {
    ALL.iter().copied().find(|provider| provider.answers_to(id))
}

/// The error for an id that no provider answers to.
pub fn unknown(id: &str) -> ConfigError {
    let word = word(id);
    let error = ConfigError::new(format!("unknown provider of models `{word}`"));
    let words = ALL.iter().flat_map(|provider| provider.words().iter().copied());
    match closest(word, words) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help("expected an id such as `openai:chat:gpt-4o` or `ollama:chat:llama3.2`"),
    }
}

/// The part of an id before the first colon.
fn word(id: &str) -> &str {
    id.split_once(':').map_or(id, |(word, _)| word)
}

/// The part of an id after the first colon.
fn rest(id: &str) -> &str {
    id.split_once(':').map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn names_and_words_are_unique_and_docs_complete() {
        let (mut ids, mut words) = (BTreeSet::new(), BTreeSet::new());
        for provider in ALL {
            let meta = provider.meta();
            for name in std::iter::once(&meta.id).chain(meta.aliases) {
                assert!(ids.insert(*name), "{name} occurs twice");
                let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                assert!(name.chars().all(kebab), "{name} is not in kebab case");
            }
            assert!(!meta.summary.ends_with('.'), "{}", meta.id);
            for heading in ["# What it does", "# Example"] {
                assert!(meta.docs.contains(heading), "{} lacks `{heading}`", meta.id);
            }
            for word in provider.words() {
                assert!(words.insert(*word), "{word} belongs to two providers");
                assert!(find(word).is_some_and(|found| found.meta().id == meta.id), "{word}");
            }
        }
    }

    #[test]
    fn every_example_names_a_model_of_its_provider() {
        for provider in ALL {
            let meta = provider.meta();
            let (_, example) = meta.docs.split_once("```yaml\n").expect(meta.id);
            let (example, _) = example.split_once("```").expect(meta.id);
            let mut sources = quintain_source::Sources::new();
            let file = sources.add(quintain_source::SourceFile::new("example", example));
            let mut dx = quintain_source::Diagnostics::new();
            let tree = quintain_source::read(&sources, file, &mut dx).expect(meta.id).to_json();
            let spec = ModelSpec::read(&tree["providers"][0]).expect(meta.id);
            assert!(provider.answers_to(&spec.id), "{}", meta.id);
        }
    }

    #[test]
    fn every_file_is_registered() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/providers");
        let this = include_str!("mod.rs");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap().to_owned();
            if stem != "mod" && path.is_file() {
                assert!(this.contains(&format!("mod {stem};")), "{stem} is not a module");
                assert!(this.contains(&format!("&{stem}::")), "{stem} is not in ALL");
            }
        }
    }

    #[test]
    fn a_missing_key_is_named_with_its_variable() {
        let env = BTreeMap::new();
        let spec = ModelSpec::new("openai:chat:gpt-4o");
        let errors = find(&spec.id).unwrap().configure(&spec, &env).err().unwrap();
        assert_eq!(errors[0].to_string(), "OpenAI needs a key");
        assert!(errors[0].help.as_deref().unwrap().contains("`OPENAI_API_KEY`"));
    }

    #[test]
    fn unknown_words_get_a_suggestion() {
        let error = unknown("opnai:gpt-4o");
        assert_eq!(error.help.as_deref(), Some("did you mean `openai`?"));
    }
}
