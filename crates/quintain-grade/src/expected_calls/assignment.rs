//! The assignment of rows to columns with the largest sum of values: the Hungarian algorithm with potentials.

/// Work beyond which the assignment is made greedily. A case of a test suite stays far below.
const MAX_WORK: usize = 50_000_000;

/// A value that no pair has: these two must not be paired.
const FORBIDDEN: f64 = 1e6;

/// Of several best assignments, the one that keeps the order is chosen: a crossing costs this times the square of the
/// distance, which is too little to outweigh a difference in values.
const CROSSING: f64 = 1e-12;

/// The best pairs `(row, column, value)`, each row and column at most once. `value` is from 0 to 1; none forbids a pair.
pub(crate) fn best(
    rows: usize,
    columns: usize,
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<(usize, usize, f64)> {
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    let (fewer, more) = (rows.min(columns), rows.max(columns));
    if fewer.saturating_mul(fewer).saturating_mul(more) > MAX_WORK {
        return greedy(rows, columns, value);
    }
    let is_wide = rows <= columns;
    let values: Vec<Option<f64>> = (0..fewer)
        .flat_map(|one| (0..more).map(move |other| (one, other)))
        .map(|(one, other)| if is_wide { value(one, other) } else { value(other, one) })
        .collect();
    let cost = |one: usize, other: usize| {
        let away = one.abs_diff(other) as f64;
        values[one * more + other].map_or(FORBIDDEN, |value| CROSSING * away * away - value)
    };
    let mut pairs = Vec::with_capacity(fewer);
    for (one, other) in cheapest(fewer, more, cost) {
        if let Some(value) = values[one * more + other] {
            pairs.push(if is_wide { (one, other, value) } else { (other, one, value) });
        }
    }
    pairs.sort_unstable_by_key(|(row, column, _)| (*row, *column));
    pairs
}

/// Assigns every row to a column at the least total cost; there are at least as many columns.
fn cheapest(
    rows: usize,
    columns: usize,
    cost: impl Fn(usize, usize) -> f64,
) -> Vec<(usize, usize)> {
    // Index 0 is a sentinel: rows and columns are counted from 1.
    let mut row_potential = vec![0.0; rows + 1];
    let mut column_potential = vec![0.0; columns + 1];
    let mut row_of = vec![0_usize; columns + 1];
    for row in 1..=rows {
        let mut previous = vec![0_usize; columns + 1];
        let mut slack = vec![f64::INFINITY; columns + 1];
        let mut is_visited = vec![false; columns + 1];
        row_of[0] = row;
        let mut column = 0;
        // Extends the alternating path until it reaches a free column.
        loop {
            is_visited[column] = true;
            let current = row_of[column];
            let mut delta = f64::INFINITY;
            let mut next = 0;
            for other in 1..=columns {
                if is_visited[other] {
                    continue;
                }
                let reduced =
                    cost(current - 1, other - 1) - row_potential[current] - column_potential[other];
                if reduced < slack[other] {
                    slack[other] = reduced;
                    previous[other] = column;
                }
                if slack[other] < delta {
                    delta = slack[other];
                    next = other;
                }
            }
            for other in 0..=columns {
                if is_visited[other] {
                    row_potential[row_of[other]] += delta;
                    column_potential[other] -= delta;
                } else {
                    slack[other] -= delta;
                }
            }
            column = next;
            if row_of[column] == 0 {
                break;
            }
        }
        while column != 0 {
            row_of[column] = row_of[previous[column]];
            column = previous[column];
        }
    }
    let assigned = row_of.iter().enumerate().skip(1).filter(|(_, row)| **row > 0);
    assigned.map(|(column, row)| (row - 1, column - 1)).collect()
}

/// For sizes at which the best assignment would take too long: calls that fit fully are found by looking a little ahead.
fn greedy(
    rows: usize,
    columns: usize,
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<(usize, usize, f64)> {
    const AHEAD: usize = 64;
    let mut is_free = vec![true; columns];
    let mut first_free = 0;
    let mut pairs = Vec::new();
    for row in 0..rows {
        while first_free < columns && !is_free[first_free] {
            first_free += 1;
        }
        let window = (first_free..columns).filter(|column| is_free[*column]).take(AHEAD);
        let scored = window.filter_map(|column| value(row, column).map(|value| (value, column)));
        // The first of equal values, so that the order is kept.
        let best = scored.reduce(|best, one| if one.0 > best.0 { one } else { best });
        if let Some((value, column)) = best {
            is_free[column] = false;
            pairs.push((row, column, value));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The best sum by trying all permutations.
    fn exhaustive(values: &[Vec<f64>], row: usize, used: u32) -> f64 {
        if row == values.len() {
            return 0.0;
        }
        let skipped = exhaustive(values, row + 1, used);
        let taken = (0..values[row].len())
            .filter(|column| used & (1 << column) == 0)
            .map(|column| values[row][column] + exhaustive(values, row + 1, used | (1 << column)));
        taken.fold(skipped, f64::max)
    }

    proptest! {
        #[test]
        fn the_sum_is_the_best_possible(
            values in (1_usize..6, 1_usize..6).prop_flat_map(|(rows, columns)| {
                proptest::collection::vec(
                    proptest::collection::vec((0_u8..5).prop_map(|v| f64::from(v) / 4.0), columns),
                    rows,
                )
            })
        ) {
            let pairs = best(values.len(), values[0].len(), |row, column| Some(values[row][column]));
            let sum: f64 = pairs.iter().map(|(_, _, value)| value).sum();
            prop_assert!((sum - exhaustive(&values, 0, 0)).abs() < 1e-6);
            let mut columns: Vec<usize> = pairs.iter().map(|(_, column, _)| *column).collect();
            columns.sort_unstable();
            columns.dedup();
            prop_assert_eq!(columns.len(), pairs.len());
        }
    }

    #[test]
    fn forbidden_pairs_are_never_made() {
        assert_eq!(best(2, 2, |row, _| (row == 1).then_some(0.5)).len(), 1);
        assert!(best(2, 3, |_, _| None).is_empty());
        assert!(best(0, 3, |_, _| Some(1.0)).is_empty());
    }

    #[test]
    fn equal_values_keep_the_order() {
        let pairs = best(3, 5, |_, _| Some(1.0));
        assert_eq!(pairs, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]);
        let pairs = best(5, 3, |_, _| Some(1.0));
        assert_eq!(pairs, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]);
    }

    #[test]
    fn very_many_calls_are_paired_in_bearable_time() {
        let pairs = best(10_000, 10_000, |row, column| Some(f64::from(row == column)));
        assert_eq!(pairs.len(), 10_000);
        assert!(pairs.iter().all(|(row, column, _)| row == column));
    }
}
