//! Helpers for the tests of attacks: a target with tools, and responses to attempts.

use std::path::PathBuf;
use std::time::Duration;

use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::probe::Step;
use quintain_evidence::surface::{Surface, Tool};
use quintain_evidence::tool_call::ToolCall;
use serde_json::{Map, Value, json};

use crate::attack::{
    Attack, Attempt, Brief, CanaryFiles, Capabilities, Hit, Listener, MarkKey, TargetView, Trial,
    Tried,
};
use crate::knowledge::{Baseline, Knowledge, aims};

/// A target and the knowledge about it.
pub(crate) struct TestTarget {
    pub(crate) surfaces: Vec<(String, Surface)>,
    pub(crate) knowledge: Knowledge,
    pub(crate) capabilities: Capabilities,
    pub(crate) canaries: CanaryFiles,
    pub(crate) listener: Listener,
}

/// The evidence of one call with this text as its response.
pub(crate) fn answers(text: &str) -> Evidence {
    comes(Outcome::says(text))
}

/// The evidence of one call with this outcome.
pub(crate) fn comes(outcome: Outcome) -> Evidence {
    let exchange = Exchange::new("s", "tools/call", Value::Null, outcome);
    let exchange = exchange.within(Duration::from_millis(1));
    Evidence { exchanges: vec![exchange], ..Evidence::default() }
}

impl TestTarget {
    /// A server that lists these tools, without knowledge about it.
    pub(crate) fn of_tools(tools: &[Value]) -> Self {
        let tools = tools.iter().cloned().map(Tool).collect();
        let surface = Surface { tools, ..Surface::default() };
        let mut room = Self {
            surfaces: vec![("s".into(), surface)],
            knowledge: Knowledge::default(),
            capabilities: Capabilities { same_host: true, ..Capabilities::default() },
            canaries: CanaryFiles {
                root: PathBuf::from("/canaries"),
                canary: PathBuf::from("/canaries/canary.txt"),
                canary_text: "canarycanarycanary".into(),
                bait: PathBuf::from("/canaries/bait.txt"),
                bait_text: "quintain-bait-text".to_owned(),
                drop: PathBuf::from("/canaries/drop"),
                ..CanaryFiles::default()
            },
            listener: Listener { host: "127.0.0.1".into(), port: 9, loopback: true },
        };
        room.knowledge.aims = aims(&room.surfaces, &room.knowledge);
        room
    }

    /// One tool with one argument, and a call with this value that works.
    pub(crate) fn with_argument(tool: &str, argument: &str, value: &str) -> Self {
        let schema = json!({"type": "object", "required": [argument],
            "properties": {argument: {"type": "string"}}});
        let mut room = Self::of_tools(&[json!({"name": tool, "inputSchema": schema})]);
        let args = Map::from_iter([(argument.to_owned(), Value::from(value))]);
        room.works(tool, args, &answers("ok"));
        room
    }

    /// Adds a call that works to the knowledge.
    pub(crate) fn works(&mut self, tool: &str, args: Map<String, Value>, evidence: &Evidence) {
        let step = Step::Call(ToolCall { tool: tool.to_owned(), args, server: Some("s".into()) });
        let exchange = evidence.exchanges[0].clone();
        self.knowledge.baselines.push(Baseline { server: "s".into(), step, exchange });
        self.knowledge.aims = aims(&self.surfaces, &self.knowledge);
    }

    pub(crate) fn view(&self) -> TargetView<'_> {
        TargetView {
            surfaces: &self.surfaces,
            knowledge: &self.knowledge,
            capabilities: &self.capabilities,
        }
    }

    pub(crate) fn brief(&self) -> Brief<'_> {
        let identities = self.capabilities.identities.len().max(1);
        let roots = &self.knowledge.roots;
        Brief::new(
            Some(&self.canaries),
            Some(&self.listener),
            identities,
            roots,
            MarkKey::of_seed(7).marks("test"),
        )
    }

    /// Runs all attempts of an attack and returns its hits.
    pub(crate) fn run_attack(
        &self,
        attack: &dyn Attack,
        answer: impl Fn(&Attempt) -> Evidence,
    ) -> Vec<Hit> {
        let view = self.view();
        let mut hits = attack.inspect(&view);
        for aim in attack.aims(&view) {
            let attempts = attack.attempts(&aim, &self.brief().on(&view));
            let tried: Vec<Tried> = attempts
                .into_iter()
                .map(|attempt| Tried { evidence: answer(&attempt), attempt })
                .collect();
            hits.extend(attack.detect(&Trial { view: &view, aim: &aim, tried: &tried }));
        }
        hits
    }
}

/// The arguments of the call that an attempt makes.
pub(crate) fn args(attempt: &Attempt) -> Map<String, Value> {
    match attempt.action.steps().last() {
        Some(Step::Call(call)) => call.args.clone(),
        Some(Step::Request { params, .. }) => params.clone(),
        None => Map::new(),
    }
}
