//! Which of the user's environment variables a text reads, through `env` of the target and of the suite.

use std::collections::BTreeMap;

use quintain_evidence::effects::Variables;
use quintain_source::{EnvNames, Scope, env_names};

/// Maximum depth of variables that refer to variables.
const ROUNDS: usize = 8;

/// The `env` maps between a template and the user's environment, innermost first.
pub(crate) struct Defined<'a>(pub(crate) Vec<&'a BTreeMap<String, String>>);

impl Defined<'_> {
    /// The user's environment variables that these texts read.
    pub(crate) fn variables<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
        scope: Scope,
    ) -> Variables {
        let mut found = EnvNames::default();
        texts.into_iter().for_each(|text| found.add(&env_names(text, scope)));
        for _ in 0..ROUNDS {
            let mut next = EnvNames { any: found.any, ..EnvNames::default() };
            let mut settled = true;
            for name in found.names {
                match self.0.iter().find_map(|map| map.get(&name)) {
                    // A variable of the suite may refer to the user's variable of the same name.
                    Some(text) if !env_names(text, Scope::Env).names.contains(&name) => {
                        settled = false;
                        next.add(&env_names(text, Scope::Env));
                    }
                    Some(text) => {
                        next.add(&env_names(text, Scope::Env));
                    }
                    None => {
                        next.names.insert(name);
                    }
                }
            }
            found = next;
            if settled {
                break;
            }
        }
        Variables { names: found.names, any: found.any }
    }
}

/// A URL without the parts that may be secret: user information, query and fragment.
pub fn bare(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host_end = rest.find('/').unwrap_or(rest.len());
    match rest[..host_end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn names_that_the_suite_defines_are_followed() {
        let (own, suite) =
            (map(&[("A", "{{env.B}}")]), map(&[("B", "{{env.SECRET}}"), ("C", "1")]));
        let defined = Defined(vec![&own, &suite]);
        let names = |text: &str| -> Vec<String> {
            defined.variables([text], Scope::Env).names.into_iter().collect()
        };
        assert_eq!(names("{{env.A}}"), ["SECRET"]);
        assert_eq!(names("{{env.C}} {{env.PATH}}"), ["PATH"]);
        let looped = map(&[("A", "{{env.B}}"), ("B", "{{env.A}}"), ("KEY", "x{{env.KEY}}")]);
        let defined = Defined(vec![&looped]);
        assert_eq!(defined.variables(["{{env.KEY}}"], Scope::Env).names.len(), 1);
        defined.variables(["{{env.A}}"], Scope::Env);
    }

    #[test]
    fn addresses_show_no_credentials() {
        assert_eq!(bare("https://u:p@h:1/a/b@c?k=v#f"), "https://h:1/a/b@c");
        assert_eq!(bare("{{env.URL}}?k=v"), "{{env.URL}}");
    }
}
