//! `echo` answers with the prompt.

use quintain_evidence::evidence::Outcome;
use quintain_evidence::response::Response;
use quintain_suite::suite::{EchoKind, EchoTarget};
use serde_json::{Value, json};

use super::{Ask, Asked, Sender, Told};
use crate::external_services::ExternalServices;

impl Sender for EchoKind {
    type Settings = EchoTarget;

    async fn ask(&self, _: &Asked<'_, EchoTarget>, ask: &Ask<'_>, _: &ExternalServices) -> Told {
        let said = Value::String(ask.prompt.to_owned());
        Told {
            method: "echo",
            sent: json!({"prompt": ask.prompt}),
            outcome: Outcome::Reply(said.clone()),
            response: Response {
                raw: Some(said.clone()),
                output: said,
                cost: Some(0.0),
                ..Response::default()
            },
        }
    }

    fn takes_time(&self) -> bool {
        false
    }
}
