//! What changed between two texts, line by line, for people. The texts may come from a target: the
//! work and the result are bounded.

use similar::{ChangeTag, TextDiff};

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
    let part = |lines: &[&str]| -> Vec<String> {
        let compared = lines.iter().skip(from).take(MAX_COMPARED);
        compared.map(|line| (*line).to_owned()).collect()
    };
    let (old_part, new_part) = (part(&old), part(&new));
    let (old_lines, new_lines) = (slices(&old_part), slices(&new_part));
    let diff = TextDiff::from_slices(&old_lines, &new_lines);
    let mut shown = Vec::new();
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 || from > 0 {
            shown.push("  …".to_owned());
        }
        for operation in group {
            let first_difference = difference(&diff, operation);
            for change in diff.iter_changes(operation) {
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

fn slices(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

/// Where a line differs from the one that takes its place, if it is one for one.
fn difference(diff: &TextDiff<'_, '_, str>, operation: &similar::DiffOp) -> usize {
    let (old, new) = (operation.old_range(), operation.new_range());
    if operation.tag() != similar::DiffTag::Replace || old.len() != 1 || new.len() != 1 {
        return 0;
    }
    match (diff.old_slice(old.start), diff.new_slice(new.start)) {
        (Some(old), Some(new)) => first_difference(old, new),
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
