//! Resources under their two schemes. A path is looked up in the registry by its template.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::shared::Server;
use crate::principal::Principal;
use crate::resource::{Contents, ResourceKind};
use crate::tool::{ErrorCode, ToolError};

/// Our scheme, and the one of the reference.
pub(super) const SCHEMES: [&str; 2] = ["quintain", "violentutf"];

/// A URI of ours: scheme, path, and the position in contents that are too large for one answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address<'a> {
    scheme: &'static str,
    pub(super) path: &'a str,
    start: usize,
}

impl<'a> Address<'a> {
    pub(super) fn parse(uri: &'a str) -> Option<Self> {
        let (scheme, rest) = uri.split_once("://")?;
        let scheme = SCHEMES.into_iter().find(|known| known.eq_ignore_ascii_case(scheme))?;
        let (path, start) = match rest.split_once("?cursor=") {
            Some((path, start)) => (path, start.parse().ok()?),
            None => (rest, 0),
        };
        let is_plain =
            !path.is_empty() && !path.split('/').any(|part| part.is_empty() || part == "..");
        is_plain.then_some(Self { scheme, path, start })
    }
}

/// Everything that a principal can read.
pub(super) async fn list(
    server: &Server,
    principal: &Principal,
) -> Result<Vec<Resource>, ErrorData> {
    let mut listed = Vec::new();
    for kind in &server.catalogue.resources {
        let meta = kind.meta();
        if !principal.may(meta.scope) {
            continue;
        }
        for entry in kind.list(&server.platform, principal).await.map_err(failed)? {
            let uri = format!("{}://{}", SCHEMES[0], entry.path);
            let mut resource = Resource::new(uri, entry.name)
                .with_description(entry.description)
                .with_mime_type(meta.mime_type);
            resource.size = entry.size;
            listed.push(resource);
        }
    }
    Ok(listed)
}

/// The templates under both schemes.
pub(super) fn templates(server: &Server, principal: &Principal) -> Vec<ResourceTemplate> {
    let mut listed = Vec::new();
    for scheme in SCHEMES {
        for kind in &server.catalogue.resources {
            let meta = kind.meta();
            if !principal.may(meta.scope) {
                continue;
            }
            for template in meta.templates.iter().filter(|template| template.contains('{')) {
                let entry = ResourceTemplate::new(format!("{scheme}://{template}"), meta.name)
                    .with_title(meta.title)
                    .with_description(meta.description)
                    .with_mime_type(meta.mime_type);
                listed.push(entry);
            }
        }
    }
    listed
}

/// Answers `resources/read`.
pub(super) async fn read(
    server: &Server,
    principal: &Principal,
    uri: &str,
    is_modern: bool,
) -> Result<ReadResourceResult, ErrorData> {
    let not_found = || unknown(uri, is_modern);
    let address = Address::parse(uri).ok_or_else(not_found)?;
    let contents = contents(server, principal, address.path).await.map_err(failed)?;
    let contents = contents.ok_or_else(not_found)?;
    let most = server.settings().max_resource_size.max(1024);
    let (part, next) = part_of(&contents.text, address.start, most).ok_or_else(not_found)?;
    let mut shown = ResourceContents::text(part, uri).with_mime_type(contents.mime_type);
    if let Some(next) = next {
        let next = format!("{}://{}?cursor={next}", address.scheme, address.path);
        let size = contents.text.len();
        let mut meta = MetaObject::default();
        meta.insert("quintain/next".to_owned(), json!(next));
        meta.insert("quintain/size".to_owned(), json!(size));
        shown = shown.with_meta(meta);
    }
    let is_cached = find(server, address.path).any(|kind| kind.meta().is_cached);
    let ttl = if is_cached { server.settings().resource_cache_ttl.as_millis() as u64 } else { 0 };
    Ok(ReadResourceResult::new(vec![shown]).with_ttl_ms(ttl).with_cache_scope(CacheScope::Private))
}

/// The contents of a path, from the cache if they may be.
pub(super) async fn contents(
    server: &Server,
    principal: &Principal,
    path: &str,
) -> Result<Option<Contents>, ToolError> {
    if let Some(cached) = server.cache.get(&principal.owner, path) {
        return Ok(Some(cached));
    }
    let segments: Vec<&str> = path.split('/').collect();
    for kind in find(server, path).filter(|kind| principal.may(kind.meta().scope)) {
        let read = match kind.read(&server.platform, principal, &segments).await {
            Err(error) if error.code == ErrorCode::NotFound => None,
            read => read?,
        };
        if let Some(contents) = read {
            if kind.meta().is_cached {
                server.cache.put(&principal.owner, path, contents.clone());
            }
            return Ok(Some(contents));
        }
    }
    Ok(None)
}

/// The kinds with a template that fits.
fn find<'a>(
    server: &'a Server,
    path: &'a str,
) -> impl Iterator<Item = &'static dyn ResourceKind> + 'a {
    let fits = |template: &&str| {
        let (mut parts, mut given) = (template.split('/'), path.split('/'));
        loop {
            match (parts.next(), given.next()) {
                (None, None) => return true,
                (Some(part), Some(given)) if part.starts_with('{') || part == given => {}
                _ => return false,
            }
        }
    };
    let kinds = server.catalogue.resources.iter().copied();
    kinds.filter(move |kind| kind.meta().templates.iter().any(&fits))
}

/// A part of a text, and where the next one starts. `None` if the position is not in the text.
fn part_of(text: &str, start: usize, most: usize) -> Option<(&str, Option<usize>)> {
    let rest = text.get(start..)?;
    if start > 0 && rest.is_empty() {
        return None;
    }
    if rest.len() <= most {
        return Some((rest, None));
    }
    let end = (0..=most).rev().find(|end| rest.is_char_boundary(*end))?;
    Some((&rest[..end], Some(start + end)))
}

fn unknown(uri: &str, is_modern: bool) -> ErrorData {
    let data = Some(json!({"uri": uri}));
    if is_modern {
        ErrorData::invalid_params("Resource not found", data)
    } else {
        ErrorData::resource_not_found("Resource not found", data)
    }
}

fn failed(error: ToolError) -> ErrorData {
    let data = Some(error.structured());
    match error.code {
        ErrorCode::NotAllowed => ErrorData::invalid_request(error.message, data),
        _ => ErrorData::internal_error(error.message, data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemes_name_the_same_path_and_others_name_nothing() {
        let ours = Address::parse("quintain://datasets/security_prompts").unwrap();
        let reference = Address::parse("violentutf://datasets/security_prompts").unwrap();
        assert_eq!(ours.path, reference.path);
        assert_eq!(Address::parse("quintain://runs/r/transcript?cursor=20").unwrap().start, 20);
        for bad in [
            "file:///etc/passwd",
            "datasets/x",
            "quintain://",
            "quintain://a/../b",
            "quintain://a//b",
            "quintain://a?cursor=x",
        ] {
            assert_eq!(Address::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_large_text_is_read_in_parts_without_splitting_a_character() {
        let text = "añb".repeat(10);
        let (mut read, mut start) = (String::new(), Some(0));
        while let Some(at) = start {
            let (part, next) = part_of(&text, at, 7).unwrap();
            read.push_str(part);
            start = next;
        }
        assert_eq!(read, text);
        assert_eq!(part_of(&text, text.len(), 7), None);
        assert_eq!(part_of("", 0, 7), Some(("", None)));
    }
}
