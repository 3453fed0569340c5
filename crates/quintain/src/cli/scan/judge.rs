//! Runs the checks, and assigns their findings to servers.

use std::collections::BTreeMap;

use quintain_engine::secrets::{learn_literals, learn_url};
use quintain_evidence::connection::Launch;
use quintain_evidence::finding::Finding;
use quintain_evidence::static_finding::inspect;
use quintain_evidence::surface::Surface;
use quintain_redteam::attacks::inspections;
use quintain_scan::clients::{Config, Scope};
use quintain_scan::launch_checks::{self, Machine};
use quintain_wire::redact::Redactor;

use super::sheet::Scan;

/// Masks the credentials of the configurations from now on. Values of variables and headers are never shown, so they
/// are learned only when a server is started with them.
pub(super) fn learn_secrets(configs: &[Config], redactor: &Redactor) {
    let launches = configs.iter().flat_map(|config| &config.entries);
    for launch in launches.filter_map(|entry| entry.launch.as_ref()) {
        learn_literals(launch, redactor);
        if let Launch::Url { url, .. } = launch {
            learn_url(url, redactor);
        }
    }
}

/// Findings about how servers are started.
pub(super) fn launches(scan: &mut Scan, machine: &dyn Machine) {
    let judged: Vec<(usize, usize, Vec<Finding>)> = scan
        .entries()
        .map(|(at, line, config, entry)| {
            (at, line, launch_checks::look(config, entry, &scan.configs, machine))
        })
        .collect();
    for (at, line, findings) in judged {
        scan.sheets[at].lines[line].findings.extend(findings);
    }
}

/// Findings about what servers list; servers that one client uses together are checked together.
pub(super) fn surfaces(scan: &mut Scan) {
    let mut seen: Vec<(Option<At>, String)> = Vec::new();
    for Group { target, members } in groups(scan) {
        let listed = |(name, at): (&String, &At)| {
            let surface = scan.sheets[at.sheet].lines[at.line].surface()?;
            Some((name.clone(), surface.clone()))
        };
        let surfaces: Vec<(String, Surface)> = members.iter().filter_map(listed).collect();
        if surfaces.is_empty() {
            continue;
        }
        let whose = |server: &str| match members.get(server) {
            Some(at) => scan.target(at.sheet),
            None => target,
        };
        for finding in inspect(inspections(), whose, &surfaces) {
            let at = members.get(finding.place.server());
            // A server of the user scope is in the groups of all projects.
            let key = (at.copied(), finding.fingerprint.clone());
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            match at {
                Some(at) => {
                    let written = scan.written(at.sheet, at.line);
                    let finding = Finding { written, ..finding };
                    scan.sheets[at.sheet].lines[at.line].findings.push(finding);
                }
                None => scan.together.push(finding),
            }
        }
    }
}

/// Place of a server in the scan.
#[derive(Clone, Copy, PartialEq, Eq)]
struct At {
    sheet: usize,
    line: usize,
}

type Members = BTreeMap<String, At>;

/// Servers that a client uses together.
struct Group {
    /// The id of the client.
    target: &'static str,
    members: Members,
}

/// The servers of a client that apply everywhere, and those that apply in single folders.
#[derive(Default)]
struct Client {
    everywhere: Members,
    folders: BTreeMap<String, Members>,
}

fn groups(scan: &Scan) -> Vec<Group> {
    let mut clients: BTreeMap<&'static str, Client> = BTreeMap::new();
    for (sheet, line, config, entry) in scan.entries() {
        if entry.disabled || config.scope == Scope::File {
            continue;
        }
        let client = clients.entry(config.client.id).or_default();
        let folder = match (&entry.project, config.scope) {
            (Some(project), _) => Some(project.clone()),
            (None, Scope::Project) => Some(".".to_owned()),
            (None, _) => None,
        };
        let members = match folder {
            Some(folder) => client.folders.entry(folder).or_default(),
            None => &mut client.everywhere,
        };
        members.insert(entry.name.clone(), At { sheet, line });
    }
    let mut groups = Vec::new();
    for (id, Client { everywhere, folders }) in clients {
        if folders.is_empty() {
            groups.push(Group { target: id, members: everywhere });
            continue;
        }
        for folder in folders.into_values() {
            // A server of the folder replaces a server of the user with the same name.
            let mut members = everywhere.clone();
            members.extend(folder);
            groups.push(Group { target: id, members });
        }
    }
    groups.push(Group { target: "files", members: named(scan) });
    groups
}

/// The servers of all files that the user named; they are checked as one group.
fn named(scan: &Scan) -> Members {
    let mut members = Members::new();
    for (at, sheet) in scan.sheets.iter().enumerate() {
        if scan.config(sheet).is_some_and(|config| config.scope != Scope::File) {
            continue;
        }
        for (number, line) in sheet.lines.iter().enumerate() {
            let mut name = line.name.clone();
            let mut count = 1;
            while members.contains_key(&name) {
                count += 1;
                name = format!("{} ({count})", line.name);
            }
            members.insert(name, At { sheet: at, line: number });
        }
    }
    members
}
