//! The payloads for one place: every form of a path to a file outside, and the same forms for a missing file.

use std::path::{Path, PathBuf};

use quintain_evidence::finding::Place;

use super::takes_file_uris;
use crate::attack::{Aim, Brief, CanaryFiles, Kind, TargetView};
use crate::attacks::paths::{self, PLAIN};
use crate::attacks::{reach, tool_actions};
use crate::knowledge::words;

const FOLDERS: [&str; 7] = ["dir", "directory", "folder", "cwd", "workspace", "root", "repo"];
/// The maximum number of schemes of listed resources to try.
const MAX_SCHEMES: usize = 2;
/// The role of attempts that request a missing file.
pub(super) const ABSENT: &str = "absent";

/// One payload. It starts a new set unless it is joined to the one before.
pub(super) struct Payload {
    pub(super) form: String,
    pub(super) value: String,
    /// Texts that each count as proof, one per line.
    pub(super) role: String,
    pub(super) joined: bool,
    /// Goes after an innocent item if the place is in a list.
    pub(super) later: bool,
}

pub(super) fn payloads(aim: &Aim, brief: &Brief<'_>, canaries: &CanaryFiles) -> Vec<Payload> {
    let payload = |form: &str, value: String, role: &str| Payload {
        form: form.to_owned(),
        value,
        role: role.to_owned(),
        joined: false,
        later: false,
    };
    let innocent = reach::innocent(aim);
    let folder = is_folder(brief, aim);
    let (target, role) = target(canaries, innocent.as_deref(), folder);
    let role = role.as_str();
    let by_root = |map: &std::collections::BTreeMap<PathBuf, PathBuf>| {
        map.iter().next().map(|(root, path)| (root.clone(), path.clone()))
    };
    let sibling = by_root(&canaries.siblings).map(|(root, file)| {
        (root, if folder { file.parent().map(Path::to_owned).unwrap_or(file) } else { file })
    });
    let link = by_root(&canaries.links).filter(|_| !folder);
    if takes_file_uris(aim) {
        return uris(aim, brief, &target, (sibling, link), role);
    }
    let forms = paths::forms(&target, brief.roots);
    if matches!(aim.place, Place::Completion { .. }) {
        let plain = forms.into_iter().take(2);
        return plain.map(|form| payload(form.words, form.path + "/", role)).collect();
    }
    let narrow = !aim.is(Kind::Path) && !matches!(aim.place, Place::Variable { .. });
    let is_free = brief.view.is_some_and(|view| paths::is_free(view, aim, brief.roots));
    let mut payloads = Vec::new();
    for form in &forms {
        if narrow && !PLAIN.contains(&form.fault) && form.words != "URL-encoded" {
            continue;
        }
        let mut next = payload(form.words, form.path.clone(), role);
        next.joined = is_free && form.words == "absolute path";
        payloads.push(next);
    }
    let deep = &forms[0].path;
    if let Some(stem) = stem(canaries, &target, folder) {
        let path = paths::forms(&stem, &[]).swap_remove(0).path;
        payloads.push(payload("relative path without a file extension", path, role));
    }
    if narrow {
        return payloads;
    }
    if matches!(aim.place, Place::Variable { .. }) {
        let tail = target.display().to_string().trim_start_matches('/').to_owned();
        payloads.push(payload("absolute path without the leading separator", tail, role));
    }
    // Relative if the innocent path is relative, else absolute.
    let local = |root: &Path, path: &Path| match &innocent {
        Some(text) if !text.starts_with('/') => paths::relative(root, path),
        _ => path.display().to_string(),
    };
    if let Some((root, path)) = sibling {
        payloads.push(payload(
            "sibling folder with the root name as prefix",
            local(&root, &path),
            role,
        ));
    }
    if let Some((root, path)) = link {
        payloads.push(payload("symbolic link inside the root", local(&root, &path), role));
    }
    if !folder {
        let ending = innocent.as_deref().and_then(|text| Path::new(text).extension());
        let ending = ending.and_then(|ending| ending.to_str()).unwrap_or("txt");
        payloads.push(payload(
            "null byte before a file extension",
            format!("{deep}\0.{ending}"),
            role,
        ));
        let absent = target.with_file_name(format!("{}.txt", brief.nonce()));
        let absent = paths::forms(&absent, &[]);
        for at in [0, 1] {
            // The same form for a missing file, to compare the responses.
            let mut pair = payload(absent[at].words, absent[at].path.clone(), ABSENT);
            pair.joined = true;
            let behind = payloads.iter().position(|payload| payload.form == absent[at].words);
            payloads.insert(behind.map_or(payloads.len(), |behind| behind + 1), pair);
        }
    }
    if second_item(aim).is_some() {
        for form in forms.iter().take(2) {
            let words = format!("{}, second list item", form.words);
            payloads.push(Payload { later: true, ..payload(&words, form.path.clone(), role) });
        }
    }
    payloads
}

/// A root, and what was planted next to it or inside it.
type OfRoot = Option<(PathBuf, PathBuf)>;

/// Paths in URIs.
fn uris(
    aim: &Aim,
    brief: &Brief<'_>,
    target: &Path,
    (sibling, link): (OfRoot, OfRoot),
    role: &str,
) -> Vec<Payload> {
    let mut payloads = Vec::new();
    let mut add = |form: &str, value: String| {
        let (form, role) = (form.to_owned(), role.to_owned());
        payloads.push(Payload { form, value, role, joined: false, later: false });
    };
    add("absolute path", format!("file://{}", target.display()));
    if let Some(root) = brief.roots.first() {
        let up = paths::relative(root, target);
        add("`..` after the root path", format!("file://{}/{up}", root.display()));
        let encoded = paths::encoded(&up);
        add("URL-encoded", format!("file://{}/{encoded}", root.display()));
    }
    if let Some((_, path)) = sibling {
        add("sibling folder with the root name as prefix", format!("file://{}", path.display()));
    }
    if let Some((_, path)) = link {
        add("symbolic link inside the root", format!("file://{}", path.display()));
    }
    if let (Place::Uri { server }, Some(view)) = (&aim.place, brief.view) {
        for scheme in schemes(view, server) {
            for form in paths::forms(target, &[]).iter().take(3) {
                add(form.words, format!("{scheme}://{}", form.path));
            }
        }
    }
    payloads
}

/// Schemes of the resources of a server, except `file`. Templates are attacked through their variables.
fn schemes(view: &TargetView<'_>, server: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let surfaces = view.surfaces.iter().filter(|(of, _)| of == server);
    for resource in surfaces.flat_map(|(_, surface)| &surface.resources) {
        let scheme = resource.uri().and_then(|uri| uri.split_once("://")).map(|(scheme, _)| scheme);
        let Some(scheme) = scheme.filter(|s| !["file", "http", "https"].contains(s)) else {
            continue;
        };
        if !found.iter().any(|known| known == scheme) && found.len() < MAX_SCHEMES {
            found.push(scheme.to_owned());
        }
    }
    found
}

/// The file or folder to request, and the texts that prove that it was read.
fn target(canaries: &CanaryFiles, innocent: Option<&str>, folder: bool) -> (PathBuf, String) {
    let name = canaries.canary.file_name().unwrap_or_default().to_string_lossy();
    if folder {
        let folder =
            canaries.project.as_deref().or(canaries.canary.parent()).unwrap_or(&canaries.root);
        return (folder.to_owned(), format!("{}\n{name}", canaries.canary_text));
    }
    let ending = innocent.and_then(|text| Path::new(text).extension()).and_then(|e| e.to_str());
    let ending = ending.filter(|wanted| canaries.endings.iter().any(|ending| ending == wanted));
    let target =
        ending.map_or(canaries.canary.clone(), |ending| canaries.canary.with_extension(ending));
    (target, canaries.canary_text.clone())
}

/// The canary without a file extension, for servers that append one.
fn stem(canaries: &CanaryFiles, target: &Path, folder: bool) -> Option<PathBuf> {
    (!folder && !canaries.endings.is_empty()).then(|| target.with_extension(""))
}

fn is_folder(brief: &Brief<'_>, aim: &Aim) -> bool {
    let of_folder = |word: &String| FOLDERS.contains(&word.as_str());
    matches!(aim.place, Place::Completion { .. })
        || words(&tool_actions::last_name(aim)).iter().any(of_folder)
        || brief
            .view
            .and_then(|view| tool_actions::tool_of(view, aim))
            .is_some_and(tool_actions::lists)
}

/// The next item of the same list.
pub(super) fn second_item(aim: &Aim) -> Option<Aim> {
    let Place::Argument { server, tool, pointer } = &aim.place else { return None };
    reach::innocent(aim)?;
    let pointer = format!("{}/1", pointer.strip_suffix("/0")?);
    let place = Place::Argument { server: server.clone(), tool: tool.clone(), pointer };
    Some(Aim { place, ..aim.clone() })
}
