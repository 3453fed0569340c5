//! Limits the calls and the time of a run, and stops it.

use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use quintain_redteam::orders::Orders;
use serde_json::Value;
use tokio::time::Instant;

use crate::eval::Stop;

/// Extra time after the time limit for work that is almost finished.
const GRACE: Duration = Duration::from_millis(500);

/// Fractions of a dollar in which costs are added.
const PER_DOLLAR: f64 = 1e9;

pub(super) struct Budget {
    calls: AtomicUsize,
    most: Option<usize>,
    /// Tokens that the target and other models used, as far as they report it.
    tokens: AtomicU64,
    most_tokens: Option<u64>,
    /// The same in billionths of a dollar.
    cost: AtomicU64,
    most_cost: Option<f64>,
    time: Option<Duration>,
    started: Instant,
    /// Set to true on Ctrl-C.
    stop: Option<Stop>,
    /// Why the run ends early although no limit is reached.
    halted: OnceLock<String>,
}

impl Budget {
    pub(super) fn new(orders: &Orders, stop: Option<Stop>) -> Self {
        Self {
            calls: AtomicUsize::new(0),
            most: orders.budget_calls,
            tokens: AtomicU64::new(0),
            most_tokens: orders.budget_tokens,
            cost: AtomicU64::new(0),
            most_cost: orders.budget_cost,
            time: orders.budget_time,
            started: Instant::now(),
            stop,
            halted: OnceLock::new(),
        }
    }

    /// Ends the run as if a limit were reached; the first reason counts.
    pub(super) fn halt(&self, why: String) {
        self.halted.get_or_init(|| why);
    }

    pub(super) fn halted(&self) -> Option<&str> {
        self.halted.get().map(String::as_str)
    }

    /// Charges what an answer cost: its usage in promptfoo's words, and its price.
    pub(super) fn spend(&self, usage: Option<&Value>, cost: Option<f64>) {
        let number = |name: &str| usage.and_then(|usage| usage.get(name)?.as_u64());
        let parts = || Some(number("prompt")? + number("completion")?);
        let tokens = number("total").or_else(parts).or_else(|| number("completion"));
        self.tokens.fetch_add(tokens.unwrap_or(0), Ordering::Relaxed);
        let cost = cost.filter(|cost| cost.is_finite() && *cost > 0.0).unwrap_or(0.0);
        self.cost.fetch_add((cost * PER_DOLLAR) as u64, Ordering::Relaxed);
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    /// In US dollars.
    pub(super) fn cost(&self) -> f64 {
        self.cost.load(Ordering::Relaxed) as f64 / PER_DOLLAR
    }

    /// Takes one call from the budget; false if none is left.
    pub(super) fn take(&self) -> bool {
        if self.is_spent() {
            return false;
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        true
    }

    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.why().is_some()
    }

    /// The remaining time, if it is limited.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.time.map(|time| time.saturating_sub(self.started.elapsed()))
    }

    /// Whether `1 / part` of the time is spent.
    pub(super) fn is_part_spent(&self, part: u32) -> bool {
        self.time.is_some_and(|time| self.started.elapsed() >= time / part)
    }

    pub(super) fn is_time_over(&self) -> bool {
        self.is_part_spent(1)
    }

    /// Whether the user stopped the run.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| *stop.borrow())
    }

    /// Runs a future until the time limit or until the user stops the run, then drops it. Everything that waits for a
    /// target or a model must run in here.
    pub(super) async fn within<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.within_part(1, work).await
    }

    /// Like [`Self::within`], but only until `1 / part` of the time is spent.
    pub(super) async fn within_part<T>(
        &self,
        part: u32,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let end = self.time.map(|time| self.started + time / part);
        self.until(end, work).await
    }

    /// Runs a future until the user stops the run.
    pub(super) async fn or_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.until(None, work).await
    }

    /// Like [`Self::within`], with extra time after the limit in which nothing new may start.
    pub(super) async fn within_grace<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let end = self.time.map(|time| self.started + time + GRACE);
        self.until(end, work).await
    }

    async fn until<T>(&self, end: Option<Instant>, work: impl Future<Output = T>) -> Option<T> {
        // Timers do not fire while a task computes, so check the time here.
        if end.is_some_and(|end| Instant::now() >= end) {
            return None;
        }
        let over = async {
            match end {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        let stopped = async {
            if let Some(mut stop) = self.stop.clone()
                && stop.wait_for(|stopped| *stopped).await.is_ok()
            {
                return;
            }
            // The sender is gone, so nothing can stop the run.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            biased;
            () = stopped => None,
            () = over => None,
            done = work => Some(done),
        }
    }

    /// The limit that was reached, if any.
    pub(super) fn why(&self) -> Option<String> {
        if let Some(why) = self.halted() {
            return Some(why.to_owned());
        }
        if self.most.is_some_and(|most| self.calls() >= most) {
            return Some(format!("call limit of {} reached (--budget-calls)", self.calls()));
        }
        if self.most_tokens.is_some_and(|most| self.tokens() >= most) {
            return Some(format!("token limit reached: {} used (--budget-tokens)", self.tokens()));
        }
        if self.most_cost.is_some_and(|most| self.cost() >= most) {
            return Some(format!("cost limit reached: ${:.4} spent (--budget-cost)", self.cost()));
        }
        let time = self.time.filter(|_| self.is_time_over())?;
        Some(format!("time limit of {} s reached (--budget-seconds)", time.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_never_ends_is_dropped_when_the_time_is_over_or_the_user_stops() {
        let time = Some(Duration::from_millis(60));
        let budget = Budget::new(&Orders { budget_time: time, ..Orders::default() }, None);
        assert_eq!(budget.within(async { 7 }).await, Some(7));
        assert!(budget.why().is_none());
        assert_eq!(budget.within_part(3, std::future::pending::<()>()).await, None);
        assert!(!budget.is_time_over());
        assert_eq!(budget.within(std::future::pending::<()>()).await, None);
        assert!(budget.why().is_some_and(|why| why.contains("time limit")) && !budget.take());
        let (send, stop) = tokio::sync::watch::channel(false);
        let endless = Orders { budget_time: None, ..Orders::default() };
        let budget = Budget::new(&endless, Some(stop));
        assert!(send.send(true).is_ok());
        assert_eq!(budget.within(std::future::pending::<()>()).await, None);
        assert!(budget.is_stopped() && budget.why().is_none());
    }

    #[test]
    fn tokens_and_money_are_limited() {
        let orders =
            Orders { budget_tokens: Some(10), budget_cost: Some(0.5), ..Orders::default() };
        let budget = Budget::new(&orders, None);
        budget.spend(Some(&serde_json::json!({"prompt": 4, "completion": 5})), Some(0.2));
        assert!(!budget.is_spent());
        budget.spend(None, Some(0.3));
        assert!(budget.why().is_some_and(|why| why.contains("--budget-cost")));
        budget.spend(Some(&serde_json::json!({"total": 1})), None);
        assert!(budget.why().is_some_and(|why| why.contains("token limit reached: 10 used")));
    }
}
