//! What changed between two texts, line by line, for people. The texts may come from a target: the
//! work and the result are bounded.

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp, DiffTag, group_diff_ops};

/// Lines of each text that are compared, after what both begin with.
const MAX_COMPARED: usize = 2_000;
/// Lines that are shown.
const MAX_SHOWN: usize = 40;
/// Characters of a line that are shown.
const MAX_WIDTH: usize = 160;
/// Unchanged lines around a change.
const CONTEXT: usize = 2;

/// `-` before what is gone, `+` before what is new, with some lines around it.
pub fn lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let from = same.saturating_sub(CONTEXT);
    let (old_part, new_part) = (part(&old, from), part(&new, from));
    let mut shown = Vec::new();
    for (number, group) in
        group_diff_ops(operations(old_part, new_part), CONTEXT).iter().enumerate()
    {
        if number > 0 || from > 0 {
            shown.push("  …".to_owned());
        }
        for operation in group {
            let first_difference = difference(old_part, new_part, operation);
            for change in operation.iter_changes(old_part, new_part) {
                let sign = match change.tag() {
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                    ChangeTag::Equal => ' ',
                };
                shown.push(format!("{sign} {}", window(change.value(), first_difference)));
            }
        }
    }
    let unseen = old.len().max(new.len()) > from + MAX_COMPARED;
    if shown.len() > MAX_SHOWN || unseen {
        shown.truncate(MAX_SHOWN);
        shown.push("  … and more".to_owned());
    }
    shown.join("\n")
}

/// The lines that are compared.
fn part<'a, 't>(lines: &'a [&'t str], from: usize) -> &'a [&'t str] {
    &lines[from..lines.len().min(from + MAX_COMPARED)]
}

/// One algorithm by name: a choice at run time compiles all of them.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
    found.into_inner().into_inner().into_ops()
}

/// Where a line differs from the one that takes its place, if it is one for one.
fn difference(old: &[&str], new: &[&str], operation: &DiffOp) -> usize {
    match (operation.tag(), &old[operation.old_range()], &new[operation.new_range()]) {
        (DiffTag::Replace, [old], [new]) => first_difference(old, new),
        _ => 0,
    }
}

/// How many characters two texts begin with in common.
pub fn first_difference(old: &str, new: &str) -> usize {
    old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count()
}

/// As much of a line as is shown, with the character at `focus` in it.
pub fn window(line: &str, focus: usize) -> String {
    let start = if focus < MAX_WIDTH - 20 { 0 } else { focus - 40 };
    let mut rest = line.chars().skip(start);
    let mut shown: String = rest.by_ref().take(MAX_WIDTH).collect();
    if start > 0 {
        shown.insert(0, '…');
    }
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_shown_with_their_surroundings() {
        let old = "a\nb\nc\nd\ne\nf\ng\n";
        let new = "a\nb\nc\nD\ne\nf\ng\nh\n";
        assert_eq!(lines(old, new), "  …\n  b\n  c\n- d\n+ D\n  e\n  f\n  g\n+ h");
        assert_eq!(lines("x", "y"), "- x\n+ y");
    }

    #[test]
    fn a_long_line_is_shown_where_it_differs() {
        let old = format!("{}one{}", "x".repeat(1_000), "y".repeat(1_000));
        let shown = lines(&old, &old.replace("one", "two"));
        assert!(shown.contains("one") && shown.contains("two"), "{shown}");
        assert!(shown.len() < 1_000, "{shown}");
    }

    #[test]
    fn large_texts_cost_little_and_are_cut() {
        let old: String = (0..100_000).flat_map(|n| [n.to_string(), "\n".to_owned()]).collect();
        let new: String =
            (0..100_000).flat_map(|n| [(n * 7 % 100_000).to_string(), "\n".to_owned()]).collect();
        let shown = lines(&old, &new);
        assert!(shown.lines().count() <= MAX_SHOWN + 1);
        assert!(shown.ends_with("and more"));
    }
}
