//! Violations of the protocol that the reader of a capture saw.

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level};

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::View;

pub(super) struct Protocol;

static META: Meta = Meta {
    id: "protocol",
    aliases: &[],
    summary: "frames of a capture violate JSON-RPC or MCP",
    docs: "\
# What it does
Reports what the reader of a capture found in its frames, under the id `protocol.RULE`: messages that are not JSON-RPC,
responses without a request, requests before `initialize`, methods whose capability is not declared.

# Why it matters
Clients and servers that violate the protocol work with some peers and fail with others.

# What counts as proof
The recorded frame. Formats without frames prove nothing.

# Severity
Error, in the layer *protocol*.

# When it does not apply
The trace has no frames: only captures have.

# Example
```json
{\"direction\": \"server\", \"frame\": {\"jsonrpc\": \"2.0\", \"id\": 99, \"result\": {}}}
```
without a request 99
",
    since: "0.2.0",
};

impl TraceCheck for Protocol {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Protocol
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if !view.trace.is_capture && view.trace.protocol.is_empty() {
            return Checked::NotApplicable("the frames of the protocol are not recorded");
        }
        let faults = view.trace.protocol.iter().map(|found| {
            let fault = Fault {
                severity: Level::Error,
                call: found.call,
                pointer: String::new(),
                message: found.message.clone(),
                evidence: found.evidence.clone(),
                hint: String::new(),
            };
            (found.rule.clone(), fault)
        });
        Checked::OfRules(faults.collect())
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{ProtocolFault, Trace};

    use super::*;

    #[test]
    fn faults_carry_their_rule_in_the_id() {
        let fault = ProtocolFault {
            rule: "id-mismatch".into(),
            call: Some(2),
            message: "a response without a request".into(),
            evidence: "{}".into(),
        };
        let trace = Trace { protocol: vec![fault], is_capture: true, ..Trace::default() };
        let (found, _) = crate::checks::run(&trace, &CallPolicy::default());
        assert_eq!((found[0].check.as_str(), found[0].call), ("protocol.id-mismatch", Some(2)));
    }

    #[test]
    fn other_formats_prove_nothing() {
        let checked = Protocol.check(&View::new(&Trace::default()), &CallPolicy::default());
        assert!(matches!(checked, Checked::NotApplicable(_)));
        let capture = Trace { is_capture: true, ..Trace::default() };
        let checked = Protocol.check(&View::new(&capture), &CallPolicy::default());
        assert!(matches!(checked, Checked::OfRules(faults) if faults.is_empty()));
    }
}
