//! The limit of cases in a plan. A short suite can ask for more cases than fit into memory, so they are counted by
//! multiplication first.

/// Maximum number of cases in a plan.
pub const MAX_CASES: u128 = 1_000_000;

/// A plan with more than [`MAX_CASES`] cases.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the suite has at least {cases} cases, but a run can have at most {MAX_CASES}: {why}")]
pub struct TooManyCases {
    cases: u128,
    why: String,
}

/// What multiplies a test into cases.
pub(super) struct Factors<'a> {
    /// Combinations of the variables that are lists.
    pub(super) lists: u128,
    pub(super) repeat: u32,
    /// Pairs of target and prompt.
    pub(super) columns: usize,
    /// The variables that are lists.
    pub(super) names: &'a [&'a str],
}

impl Factors<'_> {
    /// Checks the limit for a test after `earlier` cases.
    pub(super) fn check(&self, earlier: usize) -> Result<(), TooManyCases> {
        let Self { lists, repeat, columns, names } = *self;
        let (earlier, columns) = (earlier as u128, columns as u128);
        // A test that no target takes is still counted per repetition.
        let own = lists.saturating_mul(repeat.into()).saturating_mul(columns.max(1));
        let cases = own.saturating_add(earlier);
        if cases <= MAX_CASES {
            return Ok(());
        }
        let repeat = u128::from(repeat);
        let why = if earlier > own {
            "it has too many tests".to_owned()
        } else if repeat >= lists && repeat >= columns {
            format!("`repeat` is {repeat}")
        } else if lists >= columns {
            let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let of =
                if named.is_empty() { String::new() } else { format!(" {}", named.join(", ")) };
            format!("the lists in `vars`{of} have {lists} combinations")
        } else {
            format!("`targets` and `prompts` have at least {columns} pairs")
        };
        Err(TooManyCases { cases, why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(factors: &Factors<'_>, earlier: usize) -> String {
        factors.check(earlier).map_or_else(|error| error.to_string(), |()| "ok".to_owned())
    }

    #[test]
    fn the_largest_factor_is_named() {
        let one = Factors { lists: 1, repeat: 1, columns: 1, names: &[] };
        assert_eq!(why(&one, 0), "ok");
        assert_eq!(why(&one, 999_999), "ok");
        assert!(why(&one, 1_000_000).ends_with("it has too many tests"));
        assert_eq!(
            why(&Factors { repeat: 4_000_000_000, ..one }, 0),
            "the suite has at least 4000000000 cases, but a run can have at most 1000000: `repeat` is 4000000000"
        );
        let lists = Factors { lists: 30_u128.pow(8), names: &["a", "b"], ..one };
        let text = why(&lists, 0);
        assert!(
            text.ends_with("the lists in `vars` `a`, `b` have 656100000000 combinations"),
            "{text}"
        );
        assert!(why(&Factors { columns: 2_000_000, ..one }, 0).contains("`targets` and `prompts`"));
        assert!(
            why(&Factors { lists: u128::MAX, repeat: u32::MAX, columns: 0, names: &[] }, 1) != "ok"
        );
    }
}
