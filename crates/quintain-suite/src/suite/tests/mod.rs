//! Whole files in, suites or diagnostics out.

mod faults;
mod loading;
mod reading;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use quintain_evidence::connection::Auth;
use quintain_evidence::connection::Launch;
use quintain_evidence::connection::McpTarget;
use quintain_source::Renderer;

use super::*;

fn env() -> BTreeMap<String, String> {
    let names = [
        "MCP_BEARER_TOKEN",
        "MCP_USERNAME",
        "MCP_PASSWORD",
        "MCP_API_KEY",
        "MCP_CLIENT_ID",
        "MCP_CLIENT_SECRET",
        "MCP_KEY",
        "MCP_JWT",
        "MCP_ID",
    ];
    names.map(|name| (name.to_owned(), format!("<{name}>"))).into()
}

fn load_as(name: &str, text: &str) -> Loaded {
    let file =
        SuiteFile { name: name.into(), text: text.into(), base_dir: PathBuf::from("/suites") };
    load(vec![file], &env(), Arc::new(NoFiles), Purpose::Run(Consent::of_the_user()), BUILT_IN)
}

fn drawn(loaded: &Loaded) -> String {
    Renderer::plain().render_all(&loaded.sources, &loaded.diagnostics)
}

/// The suite of a valid file, loaded under both names.
fn clean(text: &str) -> Suite {
    let theirs = load_as("promptfooconfig.yaml", text);
    assert!(theirs.diagnostics.is_empty(), "{}", drawn(&theirs));
    let ours = load_as("quintain.yaml", text);
    assert!(ours.diagnostics.is_empty(), "{}", drawn(&ours));
    ours.suite.expect("a suite")
}

fn target(text: &str) -> McpTarget {
    clean(text).targets[0].as_mcp().expect("an MCP target").clone()
}

/// The target of a server given as the lines below `server:`.
fn with_server(lines: &str) -> String {
    let indented: Vec<_> =
        lines.lines().map(|line| format!("        {}", line.trim_end())).collect();
    format!("providers:\n  - id: mcp\n    config:\n      server:\n{}\n", indented.join("\n"))
}

fn launch(lines: &str) -> Launch {
    target(&with_server(lines)).servers[0].launch.clone()
}

fn auth(lines: &str) -> Auth {
    let indented: Vec<_> = lines.lines().map(|line| format!("  {line}")).collect();
    match launch(&format!("url: https://mcp.example.org\nauth:\n{}", indented.join("\n"))) {
        Launch::Url { auth, .. } => auth,
        other => panic!("{other:?}"),
    }
}

fn codes(text: &str) -> Vec<&'static str> {
    load_as("quintain.yaml", text).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn server_codes(lines: &str) -> Vec<&'static str> {
    codes(&with_server(lines))
}
