//! Violations of the protocol in a session. Rules that depend on what the capture cannot show are not applied, because a
//! false alarm is worse than a missed one.

use quintain_evidence::trace::ProtocolFault;

use super::{Handshake, Session};
use crate::readers::capture::evidence::{shorten, start_of};
use crate::readers::capture::rpc::{self, Side};

/// The rules, with what each of them finds. Their ids are `protocol.` and the name.
static PROTOCOL_RULES: &[(&str, &str)] = &[
    ("malformed", "a message is not valid JSON-RPC 2.0, or not valid in this version of MCP"),
    ("unknown-response", "a response belongs to no request, or to one that was answered before"),
    ("duplicate-id", "a request uses the id of an earlier one"),
    ("before-initialize", "a request is sent before the session is initialized"),
    ("undeclared-capability", "a request needs a capability that the peer did not declare"),
    ("no-response", "a request is never answered"),
];

/// A hostile capture must not make a trace of faults alone.
const MAX_FAULTS: usize = 1000;

impl Session {
    pub(super) fn check_handshake(&mut self, method: &str, call: Option<usize>, evidence: &str) {
        let is_free = matches!(method, "initialize" | "ping" | "server/discover");
        if is_free || self.is_modern || self.is_shared || self.early.len() >= MAX_FAULTS {
            return;
        }
        let when = match self.handshake {
            Handshake::Done => return,
            Handshake::Missing => "before `initialize`",
            // Logs of two programs may be in the wrong order; our own captures are not.
            Handshake::Requested if !self.is_ordered => return,
            Handshake::Requested => "before the server answered `initialize`",
        };
        let message = format!("the client sends `{method}` {when}");
        let (rule, evidence) = ("before-initialize".to_owned(), evidence.to_owned());
        self.early.push(ProtocolFault { rule, call, message, evidence });
    }

    pub(super) fn check_capability(
        &mut self,
        method: &str,
        sender: Side,
        call: Option<usize>,
        evidence: &str,
    ) {
        let Some((capability, owner)) = rpc::needed_capability(method) else { return };
        let declared = match owner {
            Side::Server => &self.server_capabilities,
            Side::Client => &self.client_capabilities,
        };
        let is_undeclared = declared
            .as_ref()
            .is_some_and(|declared| declared.is_object() && !rpc::declares(declared, capability));
        if is_undeclared && sender != owner && !self.is_modern && !self.is_shared {
            let owner = owner.word();
            let message = format!(
                "`{method}` needs the capability `{capability}`, which the {owner} did not declare"
            );
            self.fault("undeclared-capability", call, message, evidence.to_owned());
        }
    }

    /// A response that answers no open request. Only a capture of the whole session proves it.
    pub(super) fn unexpected(&mut self, keys: &[(Side, String)], is_stdio: bool, evidence: &str) {
        if (!self.is_complete && self.handshake == Handshake::Missing) || self.is_shared {
            return;
        }
        let is_used =
            |(side, id): &(Side, String)| self.used.get(side).is_some_and(|ids| ids.contains(id));
        let Some((_, id)) = keys.first() else { return };
        let message = if keys.iter().any(|key| self.answered.contains(key)) {
            // HTTP streams repeat what was lost.
            if !is_stdio {
                return;
            }
            format!("a second response to the request with the id `{id}`")
        } else if keys.iter().any(is_used) {
            // A cancelled request may still be answered.
            return;
        } else {
            format!("a response with the id `{id}`, which no request has")
        };
        self.fault("unknown-response", None, message, evidence.to_owned());
    }

    /// Requests that the server left without a response although it answered later ones. At the end of a capture they may only
    /// have been cut off.
    pub(super) fn report_unanswered(&mut self) {
        if self.is_shared || self.has_cut {
            return;
        }
        let open = self.pending.of(Side::Client).into_iter().filter(|request| {
            request.method != "subscriptions/listen"
                && (self.has_ended || request.order < self.last_answered)
        });
        let faults: Vec<(Option<usize>, String, String)> = open
            .map(|pending| {
                let message = format!("`{}` has no response", pending.method);
                (pending.call, message, start_of(&pending.params))
            })
            .collect();
        for (call, message, evidence) in faults {
            self.fault("no-response", call, message, evidence);
        }
    }

    pub(super) fn fault(
        &mut self,
        rule: &str,
        call: Option<usize>,
        message: String,
        evidence: String,
    ) {
        debug_assert!(
            PROTOCOL_RULES.iter().any(|(known, _)| *known == rule),
            "{rule} is not listed"
        );
        if self.trace.protocol.len() < MAX_FAULTS {
            let evidence = shorten(evidence);
            let rule = rule.to_owned();
            self.trace.protocol.push(ProtocolFault { rule, call, message, evidence });
        }
    }
}
