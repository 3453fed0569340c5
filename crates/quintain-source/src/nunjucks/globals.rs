//! `cycler` and `joiner`, which remember their last value.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use minijinja::value::{Object, Rest, Value as Variable};
use minijinja::{Environment, Error, ErrorKind, State};

use super::value::text;

pub(super) fn register(engine: &mut Environment<'static>) {
    engine.add_function("cycler", |items: Rest<Variable>| {
        Variable::from_object(Cycler { items: items.to_vec(), at: AtomicUsize::new(0) })
    });
    engine.add_function("joiner", |separator: Option<Variable>| {
        let separator = separator.map_or_else(|| ",".to_owned(), |separator| text(&separator));
        Variable::from_object(Joiner { separator, used: AtomicBool::new(false) })
    });
}

/// Returns its items one after the other, and starts again at the end.
#[derive(Debug)]
struct Cycler {
    items: Vec<Variable>,
    at: AtomicUsize,
}

impl Object for Cycler {
    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        _: &[Variable],
    ) -> Result<Variable, Error> {
        match method {
            "next" => {
                let at = self.at.fetch_add(1, Ordering::Relaxed);
                let item = self.items.get(at % self.items.len().max(1));
                Ok(item.cloned().unwrap_or(Variable::UNDEFINED))
            }
            "reset" => {
                self.at.store(0, Ordering::Relaxed);
                Ok(Variable::UNDEFINED)
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

/// Returns nothing at first, then its separator.
#[derive(Debug)]
struct Joiner {
    separator: String,
    used: AtomicBool,
}

impl Object for Joiner {
    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, _: &[Variable]) -> Result<Variable, Error> {
        let used = self.used.swap(true, Ordering::Relaxed);
        Ok(Variable::from(if used { self.separator.as_str() } else { "" }))
    }
}
