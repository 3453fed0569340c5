//! How many letters have to be put in, taken out or replaced to make one text of another.

use std::collections::HashMap;

/// Steps of the exact algorithm (64 cells each) before it is too much: some tenths of a second.
const EXACT_STEPS: usize = 1 << 27;
/// Letters compared by the algorithm that stops at a bound.
const BOUNDED_STEPS: usize = 1 << 29;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    Exactly(usize),
    /// Known to be over the bound; the texts are too long to say by how much.
    Over(usize),
    /// The texts are too long, and the bound too wide, to say anything.
    Unknown,
}

/// The distance in UTF-16 units, which are JavaScript's letters. Exact as long as the product of
/// the lengths (without common beginning and end) is below 2^33; for longer texts it is only found
/// out whether it is within `bound`.
pub fn distance(a: &str, b: &str, bound: usize) -> Distance {
    let (a, b): (Vec<u16>, Vec<u16>) = (a.encode_utf16().collect(), b.encode_utf16().collect());
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    let (short, long) = without_common_ends(short, long);
    let steps = short.len().div_ceil(64).saturating_mul(long.len());
    if steps <= EXACT_STEPS {
        Distance::Exactly(exact(short, long))
    } else if long.len() - short.len() > bound {
        Distance::Over(bound)
    } else if bound.saturating_mul(2).saturating_add(1).saturating_mul(long.len()) <= BOUNDED_STEPS
    {
        bounded(short, long, bound).map_or(Distance::Over(bound), Distance::Exactly)
    } else {
        Distance::Unknown
    }
}

fn without_common_ends<'a>(short: &'a [u16], long: &'a [u16]) -> (&'a [u16], &'a [u16]) {
    let start = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[start..], &long[start..]);
    let end = short.iter().rev().zip(long.iter().rev()).take_while(|(a, b)| a == b).count();
    (&short[..short.len() - end], &long[..long.len() - end])
}

/// Myers' bit vectors (1999) in the form of Hyyrö (2003): a column of the table, 64 rows a word.
fn exact(short: &[u16], long: &[u16]) -> usize {
    if short.is_empty() {
        return long.len();
    }
    // For every letter the rows that contain it; only words that are not zero, so that a text of
    // many different letters takes no more memory than another.
    let mut rows: HashMap<u16, Vec<(usize, u64)>> = HashMap::new();
    for (row, letter) in short.iter().enumerate() {
        let (word, bit) = (row / 64, 1 << (row % 64));
        let words = rows.entry(*letter).or_default();
        match words.last_mut() {
            Some((last, bits)) if *last == word => *bits |= bit,
            _ => words.push((word, bit)),
        }
    }
    let mut column = vec![Word { up: !0, down: 0 }; short.len().div_ceil(64)];
    let last_bit = 1_u64 << ((short.len() - 1) % 64);
    let mut distance = short.len();
    for letter in long {
        let mut equal = rows.get(letter).map_or(&[][..], Vec::as_slice).iter().peekable();
        let (mut up, mut down) = (1, 0);
        let last = column.len() - 1;
        for (at, word) in column.iter_mut().enumerate() {
            let equal = equal.next_if(|(word, _)| *word == at).map_or(0, |(_, bits)| *bits);
            let (grew, shrank) = word.step(equal, up, down);
            if at == last {
                distance += usize::from(grew & last_bit != 0);
                distance -= usize::from(shrank & last_bit != 0);
            }
            (up, down) = (grew >> 63, shrank >> 63);
        }
    }
    distance
}

/// 64 rows of a column: by which of them the distance grows or shrinks.
#[derive(Clone, Copy)]
struct Word {
    up: u64,
    down: u64,
}

impl Word {
    /// Goes one column to the right; `carry_*` come from the word above. Returns in which rows the
    /// distance grew or shrank on the way.
    fn step(&mut self, equal: u64, carry_up: u64, carry_down: u64) -> (u64, u64) {
        let x = equal | carry_down;
        let diagonal = (((x & self.up).wrapping_add(self.up)) ^ self.up) | x | self.down;
        let grew = self.down | !(diagonal | self.up);
        let shrank = self.up & diagonal;
        let (grew_below, shrank_below) = ((grew << 1) | carry_up, (shrank << 1) | carry_down);
        self.up = shrank_below | !(diagonal | grew_below);
        self.down = grew_below & diagonal;
        (grew, shrank)
    }
}

/// Ukkonen (1985): for 0, 1, 2, ... edits, how far each diagonal of the table can be followed.
fn bounded(short: &[u16], long: &[u16], bound: usize) -> Option<usize> {
    // Diagonals are `long - short`, counted from `-bound - 1`; `None` is not reached yet.
    let width = 2 * bound + 3;
    let middle = bound + 1;
    let goal = middle + long.len() - short.len();
    let mut reach: Vec<Option<usize>> = vec![None; width];
    for edits in 0..=bound {
        let before = reach.clone();
        for diagonal in middle - edits..=middle + edits {
            let replaced = before[diagonal].map(|row| row + 1);
            let inserted = before[diagonal - 1];
            let deleted = before[diagonal + 1].map(|row| row + 1);
            let start = if edits == 0 { Some(0) } else { replaced.max(inserted).max(deleted) };
            let Some(mut row) = start.map(|row| row.min(short.len())) else { continue };
            // A diagonal left of the table has no column for this row.
            let Some(mut at) = (row + diagonal).checked_sub(middle) else { continue };
            while row < short.len() && at < long.len() && short[row] == long[at] {
                (row, at) = (row + 1, at + 1);
            }
            reach[diagonal] = Some(row);
        }
        if reach[goal] == Some(short.len()) {
            return Some(edits);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(a: &[u16], b: &[u16]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut corner = row[0];
            row[0] = i + 1;
            for (j, y) in b.iter().enumerate() {
                let cost = (corner + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
                corner = std::mem::replace(&mut row[j + 1], cost);
            }
        }
        row[b.len()]
    }

    #[test]
    fn known_distances() {
        for (a, b, wanted) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("flaw", "lawn", 2),
            ("same", "same", 0),
            ("👍", "", 2),
            ("👍", "👎", 1),
            ("naïve", "naive", 1),
        ] {
            assert_eq!(distance(a, b, 0), Distance::Exactly(wanted), "{a} {b}");
            assert_eq!(distance(b, a, 0), Distance::Exactly(wanted), "{b} {a}");
        }
    }

    /// Texts of few letters, so that much of them agrees.
    fn letters(seed: &mut u64, len: usize) -> Vec<u16> {
        let mut next = || {
            *seed =
                seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            u16::try_from((*seed >> 60) & 3).unwrap()
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn all_algorithms_agree() {
        let mut seed = 7;
        for len in [1, 2, 5, 30, 63, 64, 65, 128, 129, 200] {
            for other in [len, len + 1, len + 3, len + 70] {
                let (a, b) = (letters(&mut seed, len), letters(&mut seed, other));
                let wanted = plain(&a, &b);
                assert_eq!(exact(&a, &b), wanted, "{len} {other}");
                assert_eq!(bounded(&a, &b, wanted), Some(wanted), "{len} {other}");
                assert_eq!(bounded(&a, &b, wanted + 9), Some(wanted), "{len} {other}");
                let gap = other - len;
                if wanted > gap {
                    assert_eq!(bounded(&a, &b, (wanted - 1).max(gap)), None, "{len} {other}");
                }
            }
        }
    }

    #[test]
    fn megabytes_are_bounded() {
        let long = "abcdefghij".repeat(500_000);
        let mut near = long.clone();
        near.replace_range(0..1, "x");
        near.replace_range(4_999_999..5_000_000, "x");
        assert_eq!(distance(&long, "short", 5), Distance::Exactly(4_999_999));
        assert_eq!(distance(&long, &near, 5), Distance::Exactly(2));
        assert_eq!(distance(&long, &"x".repeat(4_999_999), 5), Distance::Over(5));
        assert_eq!(distance(&long, &"x".repeat(4_000_000), 5), Distance::Over(5));
        assert_eq!(distance(&long, &"x".repeat(4_999_999), 1_000_000), Distance::Unknown);
    }
}
