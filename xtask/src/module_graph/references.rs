//! Which modules of its own crate a source file names: every path that begins with `crate`, `self` or
//! `super`, in `use` items and elsewhere. Code for tests is left out.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::Result;

/// A path inside the crate, from its root.
pub(super) type Path = Vec<String>;

/// One mention of something in the same crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// The module that names it.
    pub(super) from: Path,
    pub(super) to: Path,
    /// Counted from 1.
    pub(super) line: usize,
}

/// What a source file says about modules.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) references: Vec<Reference>,
    /// Modules it declares in files of their own, outside of tests.
    pub(super) modules: Vec<Path>,
    /// Names that `use` brings into a module: the module, the name, and where it comes from.
    pub(super) imports: Vec<(Path, String, Path)>,
}

/// Reads the text of the module `module`.
pub(super) fn read(module: &[String], text: &str) -> Result<Contents> {
    let tokens = TokenStream::from_str(text).map_err(|error| error.to_string())?;
    let mut reader = Reader { module: module.to_vec(), contents: Contents::default() };
    reader.walk(tokens);
    Ok(reader.contents)
}

struct Reader {
    /// Grows inside of inline modules.
    module: Path,
    contents: Contents,
}

impl Reader {
    fn walk(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let rest = &tokens[at..];
            at += if is_inner_test_attribute(rest) {
                rest.len()
            } else if is_test_attribute(rest) {
                item_length(rest)
            } else if let [TokenTree::Ident(word), TokenTree::Ident(name), ..] = rest
                && word == "mod"
            {
                self.module_item(&name.to_string(), rest.get(2))
            } else if is_word(rest, "use") && !rest.get(1).is_some_and(|next| is_mark(next, '<')) {
                self.use_item(rest)
            } else if let Some((path, length)) = self.path(rest) {
                self.name(path, &rest[0]);
                length
            } else {
                if let TokenTree::Group(group) = &rest[0] {
                    self.walk(group.stream());
                }
                1
            };
        }
    }

    /// `mod name;` or `mod name { ... }`; the number of tokens that were read.
    fn module_item(&mut self, name: &str, body: Option<&TokenTree>) -> usize {
        self.module.push(name.to_owned());
        if let Some(TokenTree::Group(body)) = body {
            self.walk(body.stream());
        } else {
            self.contents.modules.push(self.module.clone());
        }
        self.module.pop();
        3
    }

    /// A whole `use` item; the number of tokens that were read.
    fn use_item(&mut self, tokens: &[TokenTree]) -> usize {
        let end = tokens.iter().position(|token| is_mark(token, ';')).unwrap_or(tokens.len());
        let tree = &tokens[1..end];
        let mut leaves = Vec::new();
        use_tree(tree, &Vec::new(), &mut leaves);
        for leaf in leaves {
            let path = match leaf.path.first().map(String::as_str) {
                Some("crate" | "self" | "super") => self.resolve(&leaf.path),
                // A name without a beginning is of another crate, or of a module below this one.
                Some(_) => [self.module.clone(), leaf.path.clone()].concat(),
                None => continue,
            };
            if leaf.path.first().is_some_and(|word| matches!(&**word, "crate" | "self" | "super")) {
                let from = self.module.clone();
                self.contents.references.push(Reference {
                    from,
                    to: path.clone(),
                    line: leaf.line,
                });
            }
            self.contents.imports.push((self.module.clone(), leaf.name, path));
        }
        end
    }

    /// A path inside the crate at the start of the tokens, and how many of them it takes.
    fn path(&self, tokens: &[TokenTree]) -> Option<(Path, usize)> {
        let mut words = Vec::new();
        let mut at = 0;
        while let Some(TokenTree::Ident(word)) = tokens.get(at) {
            words.push(word.to_string());
            at += 1;
            if !is_path_mark(&tokens[at..]) {
                break;
            }
            at += 2;
        }
        let is_inside =
            matches!(words.first().map(String::as_str), Some("crate" | "self" | "super"));
        (is_inside && words.len() > 1).then(|| (self.resolve(&words), at))
    }

    fn name(&mut self, to: Path, first: &TokenTree) {
        let line = first.span().start().line;
        self.contents.references.push(Reference { from: self.module.clone(), to, line });
    }

    /// The path from the root of the crate.
    fn resolve(&self, words: &[String]) -> Path {
        let mut path = self.module.clone();
        for (index, word) in words.iter().enumerate() {
            match word.as_str() {
                "crate" if index == 0 => path.clear(),
                "self" => {}
                "super" => drop(path.pop()),
                _ => path.push(word.clone()),
            }
        }
        path
    }
}

/// One name that a `use` brings in.
struct Leaf {
    path: Path,
    name: String,
    line: usize,
}

fn use_tree(tokens: &[TokenTree], before: &Path, leaves: &mut Vec<Leaf>) {
    for branch in tokens.split(|token| is_mark(token, ',')) {
        let mut path = before.clone();
        let mut name = None;
        let mut at = 0;
        while let Some(token) = branch.get(at) {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    name = branch.get(at + 1).map(ToString::to_string);
                    break;
                }
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    use_tree(&inner, &path, leaves);
                    path.clear();
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        let (Some(last), Some(first)) = (path.last(), branch.first()) else { continue };
        let name = name.unwrap_or_else(|| last.clone());
        let line = first.span().start().line;
        leaves.push(Leaf { path, name, line });
    }
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

fn is_path_mark(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [first, second, ..] if is_mark(first, ':') && is_mark(second, ':'))
}

fn is_word(tokens: &[TokenTree], expected: &str) -> bool {
    matches!(tokens.first(), Some(TokenTree::Ident(word)) if word == expected)
}

/// `#![cfg(test)]`, which makes the rest of a file code for tests.
fn is_inner_test_attribute(tokens: &[TokenTree]) -> bool {
    match tokens {
        [first, second, TokenTree::Group(group), ..] => {
            is_mark(first, '#') && is_mark(second, '!') && is_for_tests(group)
        }
        _ => false,
    }
}

fn is_test_attribute(tokens: &[TokenTree]) -> bool {
    match tokens {
        [first, TokenTree::Group(group), ..] => is_mark(first, '#') && is_for_tests(group),
        _ => false,
    }
}

/// `[test]`, `[cfg(test)]` or `[cfg(all(test, ...))]`; `any` and `not` may hold outside of tests too.
fn is_for_tests(attribute: &Group) -> bool {
    let text: String = attribute.stream().to_string().split_whitespace().collect();
    text == "test"
        || text == "cfg(test)"
        || (text.starts_with("cfg(all(") && text.split(['(', ',', ')']).any(|word| word == "test"))
}

/// How many tokens an attribute and the item after it take: up to a semicolon or a body in braces.
fn item_length(tokens: &[TokenTree]) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_mark(token, ';'),
    };
    tokens.iter().position(ends).map_or(tokens.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.split("::").filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn named(module: &str, text: &str) -> Vec<String> {
        let contents = read(&path(module), text).expect("readable code");
        contents.references.iter().map(|reference| reference.to.join("::")).collect()
    }

    #[test]
    fn use_trees_are_followed_to_their_leaves() {
        let text =
            "use crate::{a::{B, c::D as E}, f};\nuse super::g::H;\nuse self::i::J;\nuse std::fmt;";
        assert_eq!(named("x::y", text), ["a::B", "a::c::D", "f", "x::g::H", "x::y::i::J"]);
    }

    #[test]
    fn paths_in_code_attributes_and_macros_count() {
        let text = "#[serde(with = \"x\")] fn f() -> crate::a::B { m!(super::super::c::d(1)); \
                    self.x; $crate::e::g!() }";
        assert_eq!(named("x::y", text), ["a::B", "c::d", "e::g"]);
    }

    #[test]
    fn comments_texts_and_visibility_do_not_count() {
        let text = "//! crate::a::B\n/* crate::c::D */ pub(crate) fn f() -> &str { \"crate::e::F\" }\n\
                    pub(in crate) struct S; pub(super) type T = u8;";
        assert_eq!(named("x", text), Vec::<String>::new());
    }

    #[test]
    fn code_for_tests_does_not_count() {
        let text = "#[cfg(test)]\nuse crate::a::B;\n#[cfg(test)]\n#[allow(dead_code)]\nmod tests { use crate::c; }\n\
                    #[cfg(all(test, unix))]\nmod more;\n#[test]\nfn f() { crate::d::e(); }\n\
                    #[cfg(not(test))]\nfn g() { crate::h::i(); }";
        assert_eq!(named("x", text), ["h::i"]);
        assert_eq!(named("x", "#![cfg(test)]\nuse crate::a::B;"), Vec::<String>::new());
        assert!(read(&path("x"), text).expect("readable code").modules.is_empty());
    }

    #[test]
    fn inline_modules_move_the_place_that_super_means() {
        assert_eq!(named("x", "mod y { use super::Z; use super::super::w::V; }"), ["x::Z", "w::V"]);
    }

    #[test]
    fn a_line_number_is_that_of_the_leaf() {
        let contents =
            read(&path("x"), "use crate::{\n    a::B,\n    c::D,\n};").expect("readable");
        let lines: Vec<usize> = contents.references.iter().map(|named| named.line).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn declared_modules_and_imports_are_listed() {
        let contents =
            read(&[], "pub mod a;\nmod b;\npub use a::{C, d::E as F};").expect("readable");
        assert_eq!(contents.modules, [path("a"), path("b")]);
        let imports: Vec<(&str, String)> =
            contents.imports.iter().map(|(_, name, from)| (&**name, from.join("::"))).collect();
        assert_eq!(imports, [("C", "a::C".to_owned()), ("F", "a::d::E".to_owned())]);
    }
}
