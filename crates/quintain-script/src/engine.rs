//! One engine for one run: compiles, calls, waits for promises and converts the result.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::context::EvalOptions;
use rquickjs::function::Args;
use rquickjs::promise::PromiseState;
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Error, Function, Module, Object, Runtime,
    Value as Js,
};

use crate::clock::Clock;
use crate::convert::{Argument, Refusal, Returned};
use crate::exports;
use crate::failure::{self, Failure};
use crate::host::{self, LogLines, Tick};
use crate::source::{Form, Source};
use crate::{Limits, ScriptError};

/// Maximum stack of the engine on its thread.
const STACK: usize = 1 << 20;
pub(crate) struct Task {
    pub(crate) source: Arc<Source>,
    pub(crate) arguments: Vec<(String, Argument)>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) limits: Limits,
    /// Compile only.
    pub(crate) check: bool,
}

pub(crate) struct Report {
    pub(crate) outcome: Result<Returned, ScriptError>,
    /// Level and text of the script's console output.
    pub(crate) log_lines: Vec<(String, String)>,
}

impl Report {
    pub(crate) fn failed(error: ScriptError) -> Self {
        Self { outcome: Err(error), log_lines: Vec::new() }
    }
}

/// A fresh engine.
pub(crate) struct Engine {
    context: Context,
    runtime: Runtime,
    clock: Rc<Clock>,
}

impl Engine {
    pub(crate) fn prepare() -> Result<Self, Error> {
        let runtime = Runtime::new()?;
        runtime.set_max_stack_size(STACK);
        let clock = Rc::new(Clock::default());
        let watched = Rc::clone(&clock);
        runtime.set_interrupt_handler(Some(Box::new(move || watched.is_over())));
        let context = Context::full(&runtime)?;
        Ok(Self { context, runtime, clock })
    }

    pub(crate) fn run(self, task: &Task) -> Report {
        let Limits { time, memory } = task.limits;
        // Zero would mean no limit.
        self.runtime.set_memory_limit(memory.max(1));
        self.clock.start(time);
        let log_lines = LogLines::default();
        let outcome = self.context.with(|ctx| {
            host::install(&ctx, &task.source.text, &task.env, &log_lines)
                .map_err(Failure::from)
                .and_then(|tick| Run { ctx: &ctx, tick, clock: &self.clock, task }.go())
                .map_err(|failure| {
                    failure::explain(&ctx, failure, &task.limits, &self.clock, &task.source)
                })
        });
        Report { outcome, log_lines: log_lines.take() }
    }
}

struct Run<'r, 'js> {
    ctx: &'r Ctx<'js>,
    tick: Tick<'js>,
    clock: &'r Clock,
    task: &'r Task,
}

impl<'js> Run<'_, 'js> {
    fn go(&self) -> Result<Returned, Failure> {
        let function = match &self.task.source.form {
            Form::Inline(_) => self.inline()?,
            Form::File { name, function } => match self.module(name)? {
                Some(module) => exported(&module, name, function.as_deref())?,
                None => return Ok(Returned::Value(serde_json::Value::Null)),
            },
        };
        if self.task.check {
            return Ok(Returned::Value(serde_json::Value::Null));
        }
        let values = self
            .task
            .arguments
            .iter()
            .map(|(_, argument)| argument.to_js(self.ctx))
            .collect::<Result<Vec<_>, Error>>()?;
        let mut result = self.settle(self.call(&function, &values)?)?;
        if let (Form::Inline(_), Some(inner)) = (&self.task.source.form, result.as_function()) {
            result = self.settle(self.call(inner, &values)?)?;
        }
        Returned::new(result).map_err(|refusal| match refusal {
            Refusal::Thrown => Failure::Conversion,
            Refusal::NotData(why) => Failure::Known(ScriptError::Result { why }),
        })
    }

    fn call(&self, function: &Function<'js>, values: &[Js<'js>]) -> Result<Js<'js>, Error> {
        let mut arguments = Args::new(self.ctx.clone(), values.len());
        arguments.push_args(values.iter().cloned())?;
        function.call_arg(arguments)
    }

    fn compile(&self, file: &str, code: String) -> Result<Function<'js>, Error> {
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(file.to_owned());
        self.ctx.eval_with_options(code, options)
    }

    /// The first reading that is valid; if all are invalid, the one that parsed furthest has the most
    /// useful error.
    fn inline(&self) -> Result<Function<'js>, Failure> {
        let Source { form: Form::Inline(readings), reading: chosen, .. } = &*self.task.source
        else {
            return Err(Failure::Error(Error::Unknown));
        };
        let names: Vec<&str> = self.task.arguments.iter().map(|(name, _)| name.as_str()).collect();
        let known = chosen.get().copied();
        let mut worst: Option<(String, (u32, u32))> = None;
        for (index, reading) in readings.iter().enumerate().skip(known.unwrap_or(0)) {
            match self.compile("inline", reading.function(&names)).catch(self.ctx) {
                Ok(function) => {
                    // Another thread may have set the same value concurrently.
                    let _ = chosen.set(index);
                    return Ok(function);
                }
                Err(CaughtError::Exception(error)) => {
                    let Some(place) = failure::syntax_place(&error) else {
                        return Err(Failure::Thrown(failure::thrown(&error)));
                    };
                    let place = reading.locate(&names, place);
                    let message = error.message().unwrap_or_default();
                    if worst.as_ref().is_none_or(|(_, before)| place >= *before) {
                        worst = Some((message, place));
                    }
                }
                Err(other) => return Err(failure::other(other)),
            }
        }
        let (message, place) = worst.unwrap_or_default();
        Err(Failure::Known(failure::syntax(message, &self.task.source.text, place)))
    }

    /// The exports of a file; none if it is only checked.
    fn module(&self, name: &str) -> Result<Option<Object<'js>>, Failure> {
        let text = &self.task.source.text;
        if !has_extension(name, "mjs") {
            const HEAD: &str = "(function(exports,require,module,__filename,__dirname){";
            match self.compile(name, format!("{HEAD}{text}\n}})")).catch(self.ctx) {
                Ok(_) if self.task.check => return Ok(None),
                Ok(function) => {
                    return Ok(Some(exports::common(self.ctx, &function, name)?));
                }
                // It may be an ES module.
                Err(CaughtError::Exception(error))
                    if failure::syntax_place(&error).is_some() && !has_extension(name, "cjs") => {}
                Err(error) => return Err(failure::compiling(error, text, HEAD.len() as u32)),
            }
        }
        let declared = Module::declare(self.ctx.clone(), name, text.as_str()).catch(self.ctx);
        let declared = declared.map_err(|error| failure::compiling(error, text, 0))?;
        if self.task.check {
            return Ok(None);
        }
        let (module, done) = declared.eval()?;
        self.settle(done.into_value())?;
        Ok(Some(module.namespace()?))
    }

    /// Waits for promises and everything else that has a `then`.
    fn settle(&self, value: Js<'js>) -> Result<Js<'js>, Failure> {
        let Some(object) = value.as_object() else { return Ok(value) };
        let promise = match value.as_promise() {
            Some(promise) => promise.clone(),
            None if object.get::<_, Js<'_>>("then")?.is_function() => {
                let (promise, resolve, _) = self.ctx.promise()?;
                resolve.call::<_, ()>((value,))?;
                promise
            }
            None => return Ok(value),
        };
        loop {
            while promise.state() == PromiseState::Pending && self.ctx.execute_pending_job() {
                if self.clock.is_over() {
                    return Err(Failure::Known(self.timed_out()));
                }
            }
            if let Some(result) = promise.result::<Js<'_>>() {
                return Ok(result?);
            }
            if self.clock.is_over() {
                return Err(Failure::Known(self.timed_out()));
            }
            let limit = self.task.limits.time.as_secs_f64() * 1000.0;
            let ticked = self.tick.as_ref().map(|tick| tick.call::<_, u8>((limit,)));
            match ticked.transpose()?.unwrap_or(0) {
                0 => return Err(Failure::Known(ScriptError::NeverSettles)),
                1 => {}
                _ => return Err(Failure::Known(self.timed_out())),
            }
        }
    }

    fn timed_out(&self) -> ScriptError {
        ScriptError::TimedOut { after: self.task.limits.time }
    }
}

fn exported<'js>(
    module: &Object<'js>,
    file: &str,
    name: Option<&str>,
) -> Result<Function<'js>, Failure> {
    if let Some(function) = exports::pick(module, name)? {
        return Ok(function);
    }
    let exports = exports::names(module)?;
    let (file, function) = (file.to_owned(), name.map(str::to_owned));
    Err(Failure::Known(ScriptError::NoFunction { file, function, exports }))
}

fn has_extension(name: &str, wanted: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(wanted))
}
