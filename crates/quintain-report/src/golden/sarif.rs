//! What readers of SARIF rely on.

use std::collections::HashSet;

use quintain_evidence::result::SourcePlace as Written;
use serde_json::Value;

use super::redteam::{attack, redteam};
use super::{fixture, options, render, report};
use crate::{LogStatus, find, sarif_log};

/// The documentation of built-ins is not part of the format.
pub(super) fn without_docs(text: &str) -> String {
    let assertions = quintain_suite::assertions::all().iter().map(|one| *one.meta());
    let attacks = quintain_redteam::attacks::all().iter().map(|one| one.meta());
    assertions.chain(attacks).fold(text.to_owned(), |text, meta| {
        let about = crate::prose::section(meta.docs, "What it does").unwrap_or_default();
        let json = |text: &str| serde_json::to_string(text).unwrap();
        text.replace(&json(meta.docs), "\"DOCS\"")
            .replace(&json(&about), "\"ABOUT\"")
            .replace(&json(meta.summary), "\"SUMMARY\"")
    })
}

/// Checks what the official schema and code scanning require, as far as we write it.
fn log(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).unwrap();
    by_schema(&log);
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(log["runs"].as_array().map(Vec::len), Some(1));
    let run = &log["runs"][0];
    assert!(run["tool"]["driver"]["name"].is_string());
    assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
    let taxa = taxa(run);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: HashSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len(), "a rule is described once");
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string(), "{rule}");
        assert!(rule["properties"]["tags"].is_array(), "{rule}");
        let address = rule.get("helpUri").and_then(Value::as_str);
        assert!(address.is_none_or(|address| address.starts_with("https://")), "{rule}");
        for relation in rule["relationships"].as_array().into_iter().flatten() {
            assert!(taxa.contains(&reference(&relation["target"])), "{relation}");
        }
    }
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert!(result["partialFingerprints"]["quintainFingerprint/v1"].is_string());
        for taxon in result["taxa"].as_array().into_iter().flatten() {
            assert!(taxa.contains(&reference(taxon)), "{taxon}");
        }
        for suppression in result["suppressions"].as_array().into_iter().flatten() {
            assert_eq!(
                (&suppression["kind"], &suppression["status"]),
                (&"external".into(), &"accepted".into())
            );
        }
        let location = &result["locations"][0];
        assert!(location["logicalLocations"][0]["fullyQualifiedName"].is_string());
        let physical = &location["physicalLocation"];
        assert!(physical["region"]["startLine"].as_u64().unwrap() > 0);
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.is_ascii() && !uri.contains([' ', ':', '<', '\\']), "{uri}");
    }
    log
}

/// The schema is a peer. Without it the test is skipped with a warning; in CI it fails.
fn by_schema(log: &Value) {
    let Some(peer) = std::env::var_os("QUINTAIN_PEER_SARIF") else {
        assert!(
            std::env::var_os("CI").is_none(),
            "the schema of SARIF is missing: cargo xtask peers"
        );
        eprintln!("SKIPPED: the SARIF schema needs QUINTAIN_PEER_SARIF (cargo xtask peers)");
        return;
    };
    let file = std::path::Path::new(&peer).join("serde-sarif/src/schema.json");
    let mut schema: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    // The schema's patterns for languages, which we do not write, are invalid regular expressions.
    for part in ["run", "toolComponent"] {
        schema["definitions"][part]["properties"]["language"] = Value::Bool(true);
    }
    let schema = jsonschema::draft7::new(&schema).unwrap();
    let wrong: Vec<String> = schema
        .iter_errors(log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every entry of every taxonomy, by its names.
fn taxa(run: &Value) -> HashSet<(&str, &str)> {
    let taxonomies = run["taxonomies"].as_array().unwrap();
    let named = taxonomies.iter().flat_map(|taxonomy| {
        let taxa = taxonomy["taxa"].as_array().unwrap().iter();
        taxa.map(|taxon| (taxonomy["name"].as_str().unwrap(), taxon["id"].as_str().unwrap()))
    });
    named.collect()
}

fn reference(value: &Value) -> (&str, &str) {
    (value["toolComponent"]["name"].as_str().unwrap(), value["id"].as_str().unwrap())
}

#[test]
fn findings_of_a_scan_are_a_log_of_their_own() {
    let report = redteam();
    let mut finding = report.findings[0].clone();
    finding.rule = "unpinned-package".into();
    finding.written = Some(Written { file: ".cursor/mcp.json".into(), line: 4, column: 5 });
    let status = LogStatus { complete: false, remarks: vec!["a server was not started".into()] };
    let findings = [&finding, &report.findings[1]];
    let log = log(
        &sarif_log("1.0.0", super::rules(), &findings, &report.suppressed, &status).to_string()
    );
    let run = &log["runs"][0];
    let first = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(first["artifactLocation"]["uri"], ".cursor/mcp.json");
    assert_eq!(first["region"]["startLine"], 4);
    assert_eq!(run["results"].as_array().map(Vec::len), Some(3));
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let rule = &run["tool"]["driver"]["rules"][0];
    assert!(rule["help"]["markdown"].as_str().unwrap().contains("# Why it matters"));
}

#[test]
fn findings_are_results_with_their_severity() {
    let log = log(&attack(find("sarif").unwrap(), &options()));
    let results = log["runs"][0]["results"].as_array().unwrap();
    let levels: Vec<&str> = results.iter().map(|one| one["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["error", "error", "warning", "note", "note", "error"]);
    let first = &results[0];
    assert_eq!(first["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "ping/host");
    assert_eq!(first["properties"]["confidence"], "confirmed");
    assert_eq!(first["properties"]["proofs"][0]["form"], "after a semicolon");
    assert!(first["properties"]["reproduce"].as_str().unwrap().starts_with("quintain call"));
    assert!(results[3]["properties"]["byDesign"].is_string());
    let suppressions: Vec<usize> =
        results.iter().map(|one| one["suppressions"].as_array().unwrap().len()).collect();
    assert_eq!(suppressions, [0, 0, 0, 0, 0, 1]);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let numbers = rules.iter().map(|one| one["properties"]["security-severity"].as_str());
    assert_eq!(numbers.collect::<Vec<_>>(), [Some("9.5"), Some("8.0"), Some("2.0"), None]);
    assert_eq!(rules[0]["properties"]["tags"][1], "external/cwe/cwe-078");
}

#[test]
fn rules_explain_themselves() {
    let mut report = redteam();
    report.findings.truncate(1);
    report.findings[0].rule = "command-injection".into();
    let run = super::redteam::run(0);
    let mut summary = super::summary(&run, &[], false);
    summary.redteam = Some(Box::new(report));
    let log = log(&render(find("sarif").unwrap(), &options(), &run, &[], &summary));
    let rule = &log["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(rule["name"], "CommandInjection");
    assert!(rule["help"]["markdown"].as_str().unwrap().contains("# What counts as proof"));
    assert!(rule["help"]["text"].is_string() && rule["fullDescription"]["text"].is_string());
}

#[test]
fn failed_cases_point_at_the_line_of_the_suite() {
    let cases = fixture::cases();
    let log = log(&report(find("sarif").unwrap(), &options(), &cases, cases.len()));
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 7, "what passed is no result");
    let physical = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(physical["artifactLocation"]["uri"], "suite.yaml");
    assert_eq!(
        (&physical["region"]["startLine"], &physical["region"]["startColumn"]),
        (&20.into(), &9.into())
    );
    assert_eq!(results[0]["ruleId"], "equals");
}

#[test]
fn an_interrupted_run_was_not_successful() {
    let cases = fixture::cases();
    let log = log(&report(find("sarif").unwrap(), &options(), &cases[..2], 9));
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
}
