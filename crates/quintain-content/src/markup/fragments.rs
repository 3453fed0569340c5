//! Pieces of XML in prose.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::names::leading_name;
use super::{names, tree};

/// Tags whose end is looked for in vain make it necessary to look at the same text again, but not
/// forever.
const MAX_WORK: usize = 16 << 20;

/// A balanced element, or several with the text between them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    range: Range<usize>,
    /// Where the element around it begins.
    parent: Option<usize>,
}

/// What there is in the text.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    /// XML, but none that fits.
    Unfit,
    Fit,
}

/// Looks for a piece that can be read and fits. As in promptfoo, elements inside of a piece that
/// can be read are not looked at by themselves.
pub fn find(text: &str, fits: impl Fn(&tree::Element) -> bool) -> Found {
    let pieces = pieces(text);
    if pieces.is_empty() {
        return Found::Nothing;
    }
    // Apart from the one at the top level, which may contain all others, they do not overlap.
    let mut readable = BTreeMap::new();
    let mut top: Option<Range<usize>> = None;
    for piece in ordered(pieces) {
        let Range { start, end } = piece.range;
        let before = readable.range(..=start).next_back().is_some_and(|(_, last)| *last >= end);
        if before || top.as_ref().is_some_and(|top| top.start <= start && end <= top.end) {
            continue;
        }
        let Ok(root) = tree::parse(&text[start..end]) else { continue };
        if fits(&root) {
            return Found::Fit;
        }
        if piece.parent.is_none() && top.is_none() {
            top = Some(start..end);
        }
        readable.insert(start, end);
    }
    Found::Unfit
}

/// Neighbours together come first, then each element that is in no other.
fn ordered(pieces: Vec<Piece>) -> Vec<Piece> {
    let starts: HashSet<usize> = pieces.iter().map(|piece| piece.range.start).collect();
    let outermost = |parent: Option<usize>| parent.is_none_or(|at| !starts.contains(&at));
    let mut groups: Vec<(Option<usize>, Vec<Range<usize>>)> = Vec::new();
    let mut places: HashMap<Option<usize>, usize> = HashMap::new();
    let mut alone: Vec<Piece> = Vec::new();
    for piece in pieces.into_iter().filter(|piece| outermost(piece.parent)) {
        let place = *places.entry(piece.parent).or_insert(groups.len());
        if place == groups.len() {
            groups.push((piece.parent, Vec::new()));
        }
        groups[place].1.push(piece.range.clone());
        alone.push(piece);
    }
    alone.sort_by_key(|piece| piece.range.start);
    let together = groups.into_iter().filter(|(_, members)| members.len() > 1);
    let mut ordered: Vec<Piece> = together
        .filter_map(|(parent, members)| {
            let start = members.iter().map(|range| range.start).min()?;
            let end = members.iter().map(|range| range.end).max()?;
            Some(Piece { range: start..end, parent })
        })
        .collect();
    ordered.append(&mut alone);
    ordered
}

/// Every element that is opened and closed in order.
fn pieces(text: &str) -> Vec<Piece> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut found = Vec::new();
    let (mut from, mut work) = (0, 0);
    while let Some(start) = text[from..].find('<').map(|at| from + at) {
        let tag = Tag::read(text, start, &mut work);
        if work > MAX_WORK {
            break;
        }
        let Some(tag) = tag else {
            from = start + 1;
            continue;
        };
        from = tag.end;
        let parent = |open: &[(&str, usize)]| open.last().map(|(_, start)| *start);
        match tag.kind {
            Kind::Declaration => {}
            Kind::Opening(name) => open.push((name, start)),
            Kind::Complete => {
                found.push(Piece { range: start..tag.end, parent: parent(&open) });
            }
            Kind::Closing(name) => match open.pop() {
                Some((last, begin)) if last == name => {
                    found.push(Piece { range: begin..tag.end, parent: parent(&open) });
                }
                _ => open.clear(),
            },
        }
    }
    found
}

struct Tag<'t> {
    kind: Kind<'t>,
    end: usize,
}

enum Kind<'t> {
    Declaration,
    Opening(&'t str),
    Complete,
    Closing(&'t str),
}

impl<'t> Tag<'t> {
    /// The tag that begins here, if it is one.
    fn read(text: &'t str, start: usize, work: &mut usize) -> Option<Self> {
        let inside = &text[start + 1..];
        let declared = |end| Some(Self { kind: Kind::Declaration, end });
        let after = |from: usize, mark: &str| {
            text[from..].find(mark).map_or(text.len(), |at| from + at + mark.len())
        };
        if inside.starts_with("!--") {
            return declared(after(start + 4, "-->"));
        }
        if inside.starts_with("![CDATA[") {
            return declared(after(start + 9, "]]>"));
        }
        if inside.starts_with('?') {
            return declared(after(start + 2, "?>"));
        }
        if inside.starts_with('!') {
            return declared(declaration_end(text, start + 2));
        }
        let (closing, name) = match inside.strip_prefix('/') {
            Some(rest) => (true, leading_name(rest)?),
            None => (false, leading_name(inside)?),
        };
        let end = start + 1 + tag_end(inside, work)?;
        let kind = if closing {
            Kind::Closing(name)
        } else if text[start..end].trim_end_matches(names::is_space).ends_with('/') {
            Kind::Complete
        } else {
            Kind::Opening(name)
        };
        Some(Self { kind, end: end + 1 })
    }
}

/// The position of the `>` of a tag; none if another tag begins before it.
fn tag_end(text: &str, work: &mut usize) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None => match byte {
                b'"' | b'\'' => quote = Some(byte),
                b'>' => return Some(at),
                b'<' => break,
                _ => {}
            },
        }
        *work += usize::from(quote.is_some());
    }
    None
}

fn declaration_end(text: &str, start: usize) -> usize {
    let (mut quote, mut depth) = (None, 0_usize);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match (quote, byte) {
            (Some(open), byte) if byte == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[') => depth += 1,
            (None, b']') => depth = depth.saturating_sub(1),
            (None, b'>') if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &str, path: &str) -> Found {
        find(text, |root| root.has(path))
    }

    #[test]
    fn pieces_are_found_in_prose() {
        assert_eq!(look("Here: <a><b>1</b></a> done", "a.b"), Found::Fit);
        assert_eq!(look("<a/> and <b><c/></b>", "b.c"), Found::Fit);
        assert_eq!(look("see <a> and <b>x</b>", "b"), Found::Fit);
        assert_eq!(look("<a><b><c/></b></a>", "b.c"), Found::Unfit);
        assert_eq!(look("<a/> and <b/>", "c"), Found::Unfit);
        for nothing in ["1 < 2 > 1", "<a><b></a></b>", "<!-- <a/> -->", "<a <b", ""] {
            assert_eq!(look(nothing, "a"), Found::Nothing, "{nothing}");
        }
    }

    #[test]
    fn neighbours_count_together() {
        let both = |root: &tree::Element| root.has("a") && root.has("b");
        assert_eq!(find("<a/> and <b/>", both), Found::Fit);
    }

    #[test]
    fn quotes_upon_quotes_take_bearable_time() {
        assert_eq!(look(&"<a \"".repeat(100_000), "a"), Found::Nothing);
        assert_eq!(look(&"<a/><!--".repeat(100_000), "b"), Found::Unfit);
    }
}
