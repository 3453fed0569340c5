//! The exit codes. Scripts rely on them: they are documented and golden-tested.

use std::path::PathBuf;

use quintain_source::visible;
use quintain_wire::redact::Redactor;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything passed.
    Passed,
    /// A check failed, a finding counts, or the response to a call is an error.
    Failed,
    /// A check failed, and the user chose the code for that.
    FailedWith(u8),
    /// The command line or the suite is wrong.
    Usage,
    /// A target cannot be reached, or did not respond in time.
    Unreachable,
    /// Nothing was selected or generated.
    Nothing,
    /// A bug in this program.
    Broken,
    /// The user pressed Ctrl-C.
    Interrupted,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 100,
            Self::FailedWith(code) => code,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::Nothing => 4,
            Self::Broken => 70,
            Self::Interrupted => 130,
        }
    }
}

/// Replaces the message of a panic while secrets cannot be masked.
const WITHHELD: &str = "(message withheld)";

/// A panic is a bug of this program: report it, remove planted files, and exit with the code for bugs. The
/// message may quote secrets. The hook never returns, so release builds need no code for unwinding.
#[expect(clippy::print_stderr, clippy::exit, reason = "a panicking process has no other way")]
pub(crate) fn install_panic_hook(state_dir: Option<PathBuf>, redactor: Redactor) {
    std::panic::set_hook(Box::new(move |panic| {
        let panic = panic.to_string();
        eprintln!(
            "quintain {} crashed because of a bug: {}\nplease report this with the command you ran",
            env!("CARGO_PKG_VERSION"),
            visible(&redactor.text_now(&panic).unwrap_or_else(|| WITHHELD.into()))
        );
        quintain_engine::planted::remove_own(state_dir.as_deref());
        std::process::exit(70);
    }));
}
