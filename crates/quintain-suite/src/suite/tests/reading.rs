//! What stays unexpanded in a suite that is only read.

use quintain_evidence::connection::Launch;
use secrecy::ExposeSecret;

use super::*;

const TWO: &str = "env: {OWN: '{{env.MCP_API_KEY}}', OTHERS: '{{env.UNSET}}', PLAIN: x}\n\
    targets:\n\
    \x20 - {id: mcp, label: a, config: {server: {command: '{{env.OWN}}', env: {T: '{{env.PLAIN}}'}}}}\n\
    \x20 - {id: mcp, label: b, config: {server: {url: '{{env.OTHERS}}', headers: {X: '{{env.UNSET}}'}}}}\n\
    prompts: ['{{env.UNSET}}']\n\
    redteam: {purpose: '{{env.UNSET}}', identities: [{name: me, env: {A: '{{env.MCP_USERNAME}}'}}]}\n";

fn read(text: &str, needed: Needed<'_>) -> Suite {
    let (name, base_dir) = ("quintain.yaml".to_owned(), PathBuf::from("/suites"));
    let file = SuiteFile { name, text: text.into(), base_dir };
    let loaded = load(vec![file], &env(), Arc::new(NoFiles), Purpose::Read(needed), BUILT_IN);
    assert!(loaded.diagnostics.is_empty(), "{}", drawn(&loaded));
    loaded.suite.expect("a suite")
}

fn command(suite: &Suite) -> (String, String) {
    match &suite.targets[0].as_mcp().expect("mcp").servers[0].launch {
        Launch::Command { command, env, .. } => {
            (command.clone(), env["T"].expose_secret().to_owned())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_named_target_is_filled_in() {
    let suite = read(TWO, Needed::Target(Some("a")));
    assert_eq!(command(&suite), ("<MCP_API_KEY>".to_owned(), "x".to_owned()));
    let Launch::Url { url, .. } = &suite.targets[1].as_mcp().expect("mcp").servers[0].launch else {
        panic!("expected a URL");
    };
    assert_eq!(url, "{{env.OTHERS}}");
    assert_eq!(suite.tests.prompts[0].raw(), "{{env.UNSET}}");
    assert!(suite.consent.is_none());
}

#[test]
fn nobody_is_filled_in_if_it_is_not_clear_who_or_nobody_is_needed() {
    for needed in [Needed::Nothing, Needed::Target(None)] {
        assert_eq!(command(&read(TWO, needed)).0, "{{env.OWN}}");
    }
    let one = TWO.replace("id: mcp, label: b", "id: 'mcp:x', label: b, env: {U: '{{env.UNSET}}'}");
    assert_eq!(command(&read(&one, Needed::Nothing)).0, "{{env.OWN}}");
}

#[test]
fn identities_are_filled_in_for_those_who_speak_as_them() {
    let text = |suite: &Suite| {
        let redteam = suite.tests.redteam.as_ref().expect("redteam").to_json();
        (redteam["purpose"].clone(), redteam["identities"][0]["env"]["A"].clone())
    };
    let suite = read(TWO, Needed::TargetAndIdentities(Some("a")));
    assert_eq!(text(&suite), ("{{env.UNSET}}".into(), "<MCP_USERNAME>".into()));
    let suite = read(TWO, Needed::Target(Some("a")));
    assert_eq!(text(&suite).1, "{{env.MCP_USERNAME}}");
}

#[test]
fn a_suite_that_is_run_is_filled_in_everywhere() {
    let loaded = load_as("quintain.yaml", TWO);
    assert!(loaded.suite.is_none());
    assert!(drawn(&loaded).contains("`UNSET` is not set"), "{}", drawn(&loaded));
}
