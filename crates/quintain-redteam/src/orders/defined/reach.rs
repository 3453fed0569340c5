//! `aim` of a defined attack: which places to try.

use quintain_content::glob;
use quintain_evidence::finding::Place;

use crate::attack::{Aim, Kind, TargetView};

/// Kinds of values by the words that suites use.
pub(crate) const KINDS: [(&str, Kind); 13] = [
    ("path", Kind::Path),
    ("url", Kind::Url),
    ("host", Kind::Host),
    ("command", Kind::Command),
    ("query", Kind::Query),
    ("filter", Kind::Filter),
    ("expression", Kind::Expression),
    ("pattern", Kind::Pattern),
    ("name", Kind::Name),
    ("id", Kind::Id),
    ("text", Kind::Text),
    ("number", Kind::Number),
    ("other", Kind::Other),
];

/// The places to try; by default everything that accepts text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    /// Patterns of tool names. If none of these three is set, all tools, resources and prompts are meant.
    pub(crate) tools: Option<Vec<String>>,
    /// Patterns of resource templates.
    pub(crate) resources: Option<Vec<String>>,
    pub(crate) prompts: Option<Vec<String>>,
    /// Patterns of argument and variable names, or of JSON pointers into arguments.
    pub(crate) arguments: Option<Vec<String>>,
    pub(crate) kinds: Vec<Kind>,
}

impl Reach {
    /// The places to try. Those that accept no text are included only if selected by name or kind.
    pub(crate) fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts(&self.kinds, !self.kinds.is_empty());
        let known: Vec<String> = aims.iter().map(|aim| aim.place.key()).collect();
        let others = view.knowledge.aims.iter().filter(|aim| {
            let asked = self.arguments.is_some() || aim.kinds.iter().any(|one| self.wants(*one));
            asked && !known.contains(&aim.place.key())
        });
        aims.extend(others.cloned());
        aims.retain(|aim| self.covers(aim));
        aims
    }

    fn wants(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    fn covers(&self, aim: &Aim) -> bool {
        let all = self.tools.is_none() && self.resources.is_none() && self.prompts.is_none();
        let any = |patterns: &Option<Vec<String>>, name: &str| {
            all || patterns.as_deref().is_some_and(|patterns| matches(patterns, name))
        };
        let owner = match &aim.place {
            Place::Argument { tool, .. } => any(&self.tools, tool),
            Place::Variable { template, .. } => any(&self.resources, template),
            Place::PromptArgument { prompt, .. } => any(&self.prompts, prompt),
            _ => false,
        };
        let argument = self.arguments.as_deref().is_none_or(|patterns| {
            let name = aim.place.argument().unwrap_or_default();
            let pointer = match &aim.place {
                Place::Argument { pointer, .. } => pointer.as_str(),
                _ => "",
            };
            matches(patterns, &name) || matches(patterns, pointer)
        });
        let kind = self.kinds.is_empty() || aim.kinds.iter().any(|kind| self.wants(*kind));
        owner && argument && kind
    }
}

pub(crate) fn matches(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| glob::matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::TestTarget;

    fn places(reach: &Reach) -> Vec<String> {
        let schema = json!({"type": "object", "properties": {
            "path": {"type": "string"}, "limit": {"type": "integer"},
            "filter": {"type": "object", "properties": {"name": {"type": "string"}}},
        }});
        let room = TestTarget::of_tools(&[
            json!({"name": "read_file", "inputSchema": schema}),
            json!({"name": "ping", "inputSchema": schema}),
        ]);
        let aims = reach.aims(&room.view());
        aims.iter().map(|aim| aim.place.to_string()).collect()
    }

    fn patterns(list: &[&str]) -> Option<Vec<String>> {
        Some(list.iter().map(|one| (*one).to_owned()).collect())
    }

    #[test]
    fn without_a_word_every_text_is_meant() {
        assert_eq!(places(&Reach::default()).len(), 4);
    }

    #[test]
    fn tools_arguments_and_kinds_narrow_it_down() {
        let tools = Reach { tools: patterns(&["*file*"]), ..Reach::default() };
        assert_eq!(places(&tools), ["read_file.path", "read_file /filter/name"]);
        let named = Reach { arguments: patterns(&["/filter/*"]), ..tools.clone() };
        assert_eq!(places(&named), ["read_file /filter/name"]);
        let numbers = Reach { arguments: patterns(&["limit"]), ..tools.clone() };
        assert_eq!(places(&numbers), ["read_file.limit"]);
        let kinds = Reach { kinds: vec![Kind::Path], ..tools };
        assert_eq!(places(&kinds), ["read_file.path"]);
        let prompts = Reach { prompts: patterns(&["*"]), ..Reach::default() };
        assert!(places(&prompts).is_empty());
    }
}
