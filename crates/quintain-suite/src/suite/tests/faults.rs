//! Invalid files: every mistake is reported, in one pass.

use quintain_evidence::connection::Launch;
use quintain_source::Severity;

use super::*;

#[test]
fn a_dozen_mistakes_are_a_dozen_diagnostics() {
    let text = "\
descripton: x
targets:
  - id: mcp
    config:
      enabled: yes
      timeout: 30s
      tool: [a]
      protocolVersion: 2025-06-19
      servers:
        - comand: node
          args: [a.js]
        - url: ftp://x
          auth:
            type: beerer
        - url: https://x.example.org
          auth: {type: bearer, token: '{{env.NOT_SET}}'}
        - path: server.rb
        - {command: a, url: 'https://b'}
      respond: {elicitation: {action: acept}}
";
    let loaded = load_as("quintain.yaml", text);
    assert!(loaded.suite.is_none());
    let drawn = drawn(&loaded);
    let codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(
        codes,
        [
            "config::unknown-key",
            "config::wrong-type",
            "config::wrong-type",
            "config::unknown-key",
            "config::unknown-value",
            "config::unknown-key",
            "config::bad-url",
            "config::unknown-value",
            "config::missing-env",
            "config::unknown-runtime",
            "config::several-of",
            "config::unknown-value",
        ],
        "{drawn}"
    );
    for part in [
        "did you mean `description`?",
        "did you mean `tools`?",
        "did you mean `command`?",
        "did you mean `bearer`?",
        "`NOT_SET` is not set",
        "did you mean `accept`?",
        "did you mean `2025-06-18`?",
    ] {
        assert!(drawn.contains(part), "{part}\n{drawn}");
    }
}

#[test]
fn missing_parts_of_auth_are_each_reported() {
    let auth = |text: &str| server_codes(&format!("url: https://x.example.org\nauth: {text}"));
    assert_eq!(auth("{type: bearer}"), ["config::missing-key"]);
    assert_eq!(auth("{type: bearer, token: ''}"), ["config::empty-value"]);
    assert_eq!(
        auth("{type: bearer, token: '{{env.NO | default(\"\")}}'}"),
        ["config::empty-value"]
    );
    assert_eq!(auth("{type: basic}"), ["config::missing-key"; 2]);
    assert_eq!(auth("{type: api_key}"), ["config::missing-key"]);
    assert_eq!(auth("{type: oauth}"), ["config::missing-key"; 2]);
    assert_eq!(auth("{type: oauth, grantType: password}"), ["config::missing-key"; 2]);
    assert_eq!(auth("{type: oauth, grantType: jwt_bearer}"), ["config::missing-key"]);
    assert_eq!(auth("{type: oauth, grantType: identity_assertion}"), ["config::missing-key"; 3]);
    assert_eq!(auth("{type: oauth, privateKey: x}"), ["config::missing-key"]);
    assert_eq!(
        auth("{type: oauth, grantType: code, clientId: a, clientSecret: b}"),
        ["config::unknown-value"]
    );
    assert_eq!(auth("{token: x}"), ["config::missing-key"]);
    assert_eq!(auth("{type: bearer, token: x, tokn: y}"), ["config::unknown-key"]);
}

#[test]
fn what_promptfoo_would_overlook_is_a_warning_in_its_files() {
    let text = with_server("command: node\nurl: https://x.example.org\nbogus: 1");
    let theirs = load_as("dir/promptfooconfig.dev.yaml", &text);
    let severities: Vec<_> = theirs.diagnostics.iter().map(|d| d.severity).collect();
    assert_eq!(severities, [Severity::Warning; 2], "{}", drawn(&theirs));
    assert!(matches!(
        &theirs.suite.expect("a suite").targets[0].as_mcp().expect("mcp").servers[0].launch,
        Launch::Command { .. }
    ));
    assert!(load_as("quintain.yaml", &text).suite.is_none());
}

#[test]
fn doubtful_things_are_warned_about() {
    for (text, code) in [
        (with_server("command: x\nheaders: {a: b}"), "config::useless-key"),
        (with_server("url: https://x\nheaders: {a: '{{TOKEN}}'}"), "config::unfilled-template"),
        (
            "targets: [{mcp: {server: {command: x}, servers: [{command: y}]}}]".into(),
            "config::several-of",
        ),
        (
            "targets: [{mcp: {enabled: false, server: {command: '{{env.NO}}'}}}]".into(),
            "config::disabled",
        ),
        (
            "targets: [{mcp: {server: {command: x}, defaultArgs: {a: no}}}]".into(),
            "config::yaml-boolean",
        ),
        (
            "targets: [{mcp: {server: {command: x}, defaultArgs: {a: [012]}}}]".into(),
            "config::yaml-number",
        ),
    ] {
        let loaded = load_as("quintain.yaml", &text);
        let codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{}", drawn(&loaded));
        assert!(loaded.suite.is_some(), "{text}");
    }
}
