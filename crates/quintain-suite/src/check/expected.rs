//! `value` of an assertion, converted into the type that the assertion works with.

use std::borrow::Cow;

use quintain_evidence::verdict::Verdict;
use quintain_source::{Diagnostic, Span};
use serde_json::Value;

use super::{Param, Scene, Spec};

/// Converts a value, or none if the suite gives none. The error is shown to the user.
type Read<T> = Box<dyn Fn(Option<&Value>) -> Result<T, String> + Send + Sync>;

/// `value` after conversion. A value without templates is converted once, when the suite is loaded; others
/// when the variables are known.
pub struct Expected<T> {
    read: Read<T>,
    state: State<T>,
}

enum State<T> {
    Ready(Result<T, String>),
    Open(Param),
}

impl<T> Expected<T> {
    fn broken(read: Read<T>) -> Self {
        Self { read, state: State::Ready(Err("`value` is unreadable".to_owned())) }
    }
}

impl<T: Clone> Expected<T> {
    /// The value for this case. An invalid value is an error verdict.
    pub fn get<'a>(&'a self, scene: &Scene<'a>) -> Result<Cow<'a, T>, Box<Verdict>> {
        let error = |why: &String| Box::new(Verdict::error(why));
        match &self.state {
            State::Ready(ready) => ready.as_ref().map(Cow::Borrowed).map_err(error),
            State::Open(param) => {
                let value = param.resolve(scene).map_err(Box::new)?;
                (self.read)(Some(&value)).map(Cow::Owned).map_err(|why| error(&why))
            }
        }
    }

    /// The value, if it is valid and the same for all cases.
    pub fn constant(&self) -> Option<&T> {
        match &self.state {
            State::Ready(Ok(ready)) => Some(ready),
            _ => None,
        }
    }
}

impl Spec<'_, '_> {
    /// `value`, converted by `read`. promptfoo reports an invalid value during the run; Quintain also
    /// reports it when it loads the suite.
    pub fn expect<T>(
        &mut self,
        read: impl Fn(Option<&Value>) -> Result<T, String> + Send + Sync + 'static,
    ) -> Expected<T> {
        let node = self.node.get("value");
        let state = match (self.value(), node) {
            (Some(Param::Fixed(value)), _) => State::Ready(read(Some(&value))),
            (Some(param), _) => State::Open(param),
            (None, Some(null)) if null.is_null() => State::Ready(read(Some(&Value::Null))),
            // An unreadable file, which is reported already.
            (None, Some(_)) => return Expected::broken(Box::new(read)),
            (None, None) => State::Ready(read(None)),
        };
        if let State::Ready(Err(why)) = &state {
            self.unusable(node.unwrap_or(self.node).span, why);
        }
        Expected { read: Box::new(read), state }
    }

    /// The required `threshold`; without it, all cases get an error verdict.
    pub fn required_threshold(&mut self, or: &str) -> Result<f64, Box<Verdict>> {
        self.threshold().ok_or_else(|| {
            self.unusable(self.node.span, or);
            Box::new(Verdict::error(or))
        })
    }

    fn unusable(&mut self, span: Span, why: &str) {
        let diagnostic = Diagnostic::new(self.strictness, "config::unusable-value", why);
        self.dx.push(diagnostic.at(span, "this assertion cannot be evaluated"));
    }
}
