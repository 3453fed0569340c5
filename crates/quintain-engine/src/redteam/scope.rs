//! Which attempts belong to a trial.

use quintain_redteam::attack::AnyAttack;
use quintain_redteam::orders::Orders;
use quintain_redteam::strategies::{StrategyKind, Tactic};
use quintain_redteam::suits::Receiver;

/// Which attempts belong to a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those of the attack, and those of all strategies.
    All,
    /// Those of the attack as they are.
    Plain,
    /// Those that the strategy at this position makes of them.
    Strategy(usize),
}

impl Scope {
    /// The trials of one attack on a target that takes text: one as it is, and one for each strategy.
    pub(super) fn of_prompts(orders: &Orders, attack: &AnyAttack) -> Vec<Self> {
        let id = attack.meta().id;
        let off = |tactic: &Tactic| matches!(tactic.kind(), StrategyKind::Keep { enabled: false });
        let plain = (!orders.strategies.iter().any(off)).then_some(Self::Plain);
        let strategies = orders.strategies.iter().enumerate().filter(|(_, tactic)| {
            let works = matches!(tactic.kind(), StrategyKind::Rewrite(_) | StrategyKind::Talk(_));
            works
                && tactic.check(Receiver::Model).is_ok()
                && (tactic.covers(id) || tactic.covers(attack.rule()))
        });
        plain.into_iter().chain(strategies.map(|(at, _)| Self::Strategy(at))).collect()
    }
}
