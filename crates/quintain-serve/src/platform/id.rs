//! Ids of what is stored, and the time.

use std::time::SystemTime;

use quintain_engine::store::Moment;

/// Digits of ids: no letters that look like others.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new id that sorts by time: `gen_01k9...`.
pub fn new_id(prefix: &str) -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let time = (0..10).rev().map(|at| millis >> (at * 5));
    let mut id = format!("{prefix}_");
    id.extend(time.map(digit));
    id.push_str(&letters(16));
    id
}

/// Random letters and digits of the operating system.
fn letters(count: usize) -> String {
    let mut bytes = vec![0_u8; count];
    // Without randomness, ids only collide more often, which the store notices.
    let _ = getrandom::fill(&mut bytes);
    bytes.into_iter().map(|byte| digit(u64::from(byte))).collect()
}

fn digit(bits: u64) -> char {
    char::from(DIGITS[(bits & 31) as usize])
}

/// The current second, RFC 3339 in UTC.
pub fn now() -> String {
    Moment::from(SystemTime::now()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_sort_by_time() {
        let first = new_id("gen");
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = new_id("gen");
        assert!(first < second && first.len() == 30, "{first} {second}");
    }
}
