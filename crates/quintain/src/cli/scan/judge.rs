//! Hands what was found to the checks, and what they say to its place.

use std::collections::BTreeMap;

use quintain_core::attack::{Field, Powers};
use quintain_core::attacks;
use quintain_core::clients::{Config, Scope};
use quintain_core::finding::Finding;
use quintain_core::knowledge::Knowledge;
use quintain_core::launch_checks::{self, Machine};
use quintain_core::static_finding::inspect;
use quintain_core::surface::Surface;
use quintain_wire::redact::Redactor;
use secrecy::ExposeSecret;

use super::sheet::Sheets;

/// From now on, no credential of the configurations is shown. Values of variables and headers are not
/// shown to begin with, and are learned by whoever hands them to a server.
pub(super) fn learn_secrets(configs: &[Config], redactor: &Redactor) {
    let launches = configs.iter().flat_map(|config| &config.entries);
    for launch in launches.filter_map(|entry| entry.launch.as_ref()) {
        for literal in launch_checks::literals(launch) {
            // A plain word would be masked wherever it stands, in the words of the report, too.
            let letters = |c: char| c.is_ascii_lowercase() || "- ".contains(c);
            if !literal.value.expose_secret().chars().all(letters) {
                redactor.learn(&literal.value);
            }
        }
    }
}

/// What is wrong with how servers are started.
pub(super) fn launches(sheets: &mut Sheets, machine: &dyn Machine) {
    let judged: Vec<(usize, usize, Vec<Finding>)> = sheets
        .entries()
        .map(|(at, line, config, entry)| {
            (at, line, launch_checks::look(config, entry, &sheets.configs, machine))
        })
        .collect();
    for (at, line, findings) in judged {
        sheets.sheets[at].lines[line].findings.extend(findings);
    }
}

/// What is wrong with what servers list; those that one client uses at once are looked at together.
pub(super) fn surfaces(sheets: &mut Sheets) {
    let mut seen: Vec<String> = Vec::new();
    for group in groups(sheets) {
        let members: Vec<(String, Surface)> = group
            .members
            .iter()
            .filter_map(|(sheet, line)| {
                let line = &sheets.sheets[*sheet].lines[*line];
                Some((line.name.clone(), line.surface()?.clone()))
            })
            .collect();
        if members.is_empty() {
            continue;
        }
        let (knowledge, powers) = (Knowledge::default(), Powers::default());
        let field =
            Field { surfaces: &members, knowledge: &knowledge, powers: &powers, purpose: None };
        for finding in inspect(attacks::all(), &group.target, &field) {
            // A server of the user is in the groups of all projects.
            if seen.contains(&finding.fingerprint) {
                continue;
            }
            seen.push(finding.fingerprint.clone());
            let owner = group.members.iter().find(|(sheet, line)| {
                let line = &sheets.sheets[*sheet].lines[*line];
                line.surface().is_some() && line.name == finding.place.server()
            });
            match owner {
                Some((sheet, line)) => sheets.sheets[*sheet].lines[*line].findings.push(finding),
                None => sheets.together.push(finding),
            }
        }
    }
}

/// Servers that one client uses at once.
struct Group {
    /// The id of the client, or the saved file.
    target: String,
    /// Sheet and line.
    members: Vec<(usize, usize)>,
}

fn groups(sheets: &Sheets) -> Vec<Group> {
    let mut groups = Vec::new();
    // By client: what counts everywhere, and what counts in single folders.
    type Members = BTreeMap<String, (usize, usize)>;
    let mut clients: BTreeMap<&str, (Members, BTreeMap<String, Members>)> = BTreeMap::new();
    for (at, line, config, entry) in sheets.entries().filter(|(.., entry)| !entry.disabled) {
        let (everywhere, folders) = clients.entry(config.client.id).or_default();
        let folder = match (&entry.project, config.scope) {
            (Some(project), _) => Some(project.clone()),
            (None, Scope::Project) => Some(".".to_owned()),
            (None, _) => None,
        };
        let members = match folder {
            Some(folder) => folders.entry(folder).or_default(),
            None => everywhere,
        };
        members.insert(entry.name.clone(), (at, line));
    }
    for (client, (everywhere, folders)) in clients {
        let target = || client.to_owned();
        if folders.is_empty() {
            groups.push(Group { target: target(), members: everywhere.into_values().collect() });
            continue;
        }
        for folder in folders.into_values() {
            // A server of the folder takes the place of one of the user.
            let mut members = everywhere.clone();
            members.extend(folder);
            groups.push(Group { target: target(), members: members.into_values().collect() });
        }
    }
    for (at, sheet) in sheets.sheets.iter().enumerate().filter(|(_, sheet)| sheet.config.is_none())
    {
        groups.push(Group {
            target: sheet.path.display().to_string(),
            members: (0..sheet.lines.len()).map(|line| (at, line)).collect(),
        });
    }
    groups
}
