//! Ways to see a variable of the environment.

use quintain_engine::{Access, Policy};
use quintain_evidence::code::Language;
use serde_json::json;

use super::{List, Row, Sign, echo, mcp, names, test};
use crate::policy::bench::{Bench, VARIABLE};

pub(super) fn rows(bench: &Bench) -> Vec<Row> {
    let row = |key, suite, asks: bool| Row {
        key,
        list: List::Variables,
        suite,
        asks: asks.then(|| "`PLAIN_VARIABLE`".to_owned()),
        policy: Policy {
            variables: names(&["PLAIN_VARIABLE", "PATH", "HOME"]),
            interpreters: Access::Only(vec![Language::JavaScript, Language::Python]),
            commands: names(&["sh"]),
            files: Access::Only(vec![bench.path("open")]),
            addresses: Access::Only(vec!["loopback".parse().unwrap()]),
            ..Policy::nothing()
        },
        sign: Sign::Says(VARIABLE),
    };
    let seen = "{{env.PLAIN_VARIABLE}}";
    let made = bench.path("made").display().to_string();
    let mut inherited = row(
        "server environment",
        mcp(&json!({"command": "sh", "args": ["-c", format!("echo \"$TZ\" > {made}")]})),
        false,
    );
    inherited.policy.variables = names(&["TZ"]);
    inherited.sign = Sign::WritesText("made", VARIABLE);
    // The template is in `env` of the server; the shell only prints the variable.
    let dollars = Row {
        sign: Sign::WritesText("made", VARIABLE),
        ..row(
            "env of a server",
            mcp(
                &json!({"command": "sh", "args": ["-c", format!("echo \"$OWN\" > {made}")], "env": {"OWN": seen}}),
            ),
            true,
        )
    };
    let sent = |key, config| Row {
        sign: Sign::Hears(VARIABLE),
        ..row(key, echo(json!({"targets": [{"id": bench.peer.url("/"), "config": config}]})), true)
    };
    let key = {
        let config = json!({"apiBaseUrl": bench.peer.url("/"), "apiKeyEnvar": "PLAIN_VARIABLE", "maxRetries": 0});
        let target = json!({"id": "openai:chat:m", "config": config});
        Row {
            sign: Sign::Hears(VARIABLE),
            ..row("key of a model", echo(json!({"targets": [target]})), false)
        }
    };
    vec![
        key,
        row("prompt template", echo(json!({"prompts": [seen]})), true),
        row(
            "prompt template with a filter",
            echo(json!({"prompts": ["{{env.PLAIN_VARIABLE | lower}}"]})),
            true,
        ),
        row("variable template", echo(json!({"tests": [{"vars": {"word": seen}}]})), true),
        row("description template", test(json!({"description": seen})), true),
        row(
            "environment of the suite",
            echo(json!({"env": {"OWN": seen}, "prompts": ["{{env.OWN}}"]})),
            true,
        ),
        row("target template", echo(json!({"targets": [{"id": "echo", "label": seen}]})), false),
        row(
            "assertion template",
            test(json!({"assert": [{"type": "equals", "value": seen}]})),
            true,
        ),
        row(
            "script environment",
            test(json!({"options": {"transform": "process.env.PLAIN_VARIABLE ?? 'none'"}})),
            false,
        ),
        row(
            "interpreter environment",
            echo(json!({"targets": ["file://open/provider.py"]})),
            false,
        ),
        row(
            "command environment",
            echo(json!({"targets": ["exec: sh -c 'echo $PLAIN_VARIABLE'"]})),
            false,
        ),
        sent("http header", json!({"method": "GET", "headers": {"x-own": seen}})),
        sent(
            "http credentials",
            json!({"method": "GET", "auth": {"type": "bearer", "token": seen}}),
        ),
        Row {
            sign: Sign::Hears(VARIABLE),
            ..row(
                "server header",
                mcp(&json!({"url": bench.peer.url("/"), "headers": {"x-own": seen}})),
                true,
            )
        },
        inherited,
        dollars,
    ]
}
