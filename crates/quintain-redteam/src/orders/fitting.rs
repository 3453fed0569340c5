//! Which attacks apply to a target, judged by what it lists.

use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::surface::Surface;
use serde_json::json;

use crate::attack::missing;
use crate::attack::{Attack, Capabilities, TargetView};
use crate::attacks;
use crate::knowledge::{Baseline, Hints, Knowledge, Tries, aims};
use crate::suits::Receiver;

/// Whether an attack applies to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// It has places to attack, or inspects what is listed.
    Suits,
    /// It lacks a requirement, in words.
    Lacks(String),
    /// Nothing listed is a place for it.
    NoPlace,
}

/// All attacks, and whether they apply to a target of which only the lists are known.
pub fn fitting(
    surfaces: &[(String, Surface)],
    capabilities: &Capabilities,
) -> Vec<(&'static dyn Attack, Fit)> {
    let mut knowledge = Knowledge { baselines: likely(surfaces), ..Knowledge::default() };
    knowledge.aims = aims(surfaces, &knowledge);
    let view = TargetView { surfaces, knowledge: &knowledge, capabilities };
    let fit = |attack: &dyn Attack| {
        if let Some(lack) = missing(attack.needs(), &view) {
            Fit::Lacks(lack)
        } else if attack.inspects() || !attack.aims(&view).is_empty() {
            Fit::Suits
        } else {
            Fit::NoPlace
        }
    };
    attacks::suiting(Receiver::Arguments).map(|attack| (attack, fit(attack))).collect()
}

/// For every tool a call that is likely valid, with a made-up success.
fn likely(surfaces: &[(String, Surface)]) -> Vec<Baseline> {
    let mut baselines = Vec::new();
    for (server, surface) in surfaces {
        for tool in &surface.tools {
            let Some(name) = tool.name() else { continue };
            let schema = tool.input_schema().cloned().unwrap_or_default();
            let args = Tries::new(tool, &schema, &[], &Hints::default()).next(None);
            let args = args.unwrap_or_default();
            let outcome = Outcome::Reply(json!({"content": []}));
            let exchange = Exchange::called(server, name, args.into(), outcome);
            baselines.push(Baseline { server: server.clone(), step: exchange.step(), exchange });
        }
    }
    baselines
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::Tool;

    use super::*;

    #[test]
    fn attacks_suit_what_is_listed() {
        let tool = json!({"name": "read_file", "inputSchema": {"type": "object",
            "properties": {"path": {"type": "string"}}, "required": ["path"]}});
        let surface = Surface { tools: vec![Tool(tool)], ..Surface::default() };
        let capabilities = Capabilities { same_host: true, ..Capabilities::default() };
        let fits = fitting(&[("s".into(), surface)], &capabilities);
        let of =
            |id: &str| fits.iter().find(|(attack, _)| attack.meta().id == id).unwrap().1.clone();
        assert_eq!(of("path-traversal"), Fit::Suits);
        assert_eq!(of("tool-poisoning"), Fit::Suits);
        assert_eq!(of("schema-bypass"), Fit::Suits);
        assert_eq!(of("unsafe-url-scheme"), Fit::NoPlace);
        let lacks = of("cross-session-leak");
        assert!(matches!(lacks, Fit::Lacks(why) if why.contains("two identities")));
    }
}
