//! Signals of the recorder: those it hands on to the command, and the one that must not end a session.

#[cfg(unix)]
pub use self::unix::survive_file_limit;
#[cfg(unix)]
pub(super) use self::unix::{Signals, asks_to_end, send};

#[cfg(unix)]
mod unix {
    use futures_util::future::select_all;
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

    /// Signals that programs handle, by their numbers.
    const HANDED_ON: [Signal; 6] =
        [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];

    pub(in crate::recording) struct Signals(Vec<(i32, Listener)>);

    impl Signals {
        /// A signal that this process ignores from its start stays ignored, also for the command.
        pub(in crate::recording) fn listen() -> Self {
            let ignored = ignored();
            let wanted = HANDED_ON.iter().map(|signal| signal.as_raw());
            let wanted = wanted.filter(|number| ignored & (1 << (number - 1)) == 0);
            let listen = |number: i32| Some((number, signal(SignalKind::from_raw(number)).ok()?));
            Self(wanted.filter_map(listen).collect())
        }

        pub(in crate::recording) async fn next(&mut self) -> i32 {
            if self.0.is_empty() {
                return std::future::pending().await;
            }
            let waiting = self.0.iter_mut().map(|(number, listener)| {
                Box::pin(async move {
                    listener.recv().await;
                    *number
                })
            });
            select_all(waiting).await.0
        }
    }

    /// The mask of ignored signals; the first bit is signal 1.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
    }

    /// Whether a signal asks a program to end.
    pub(in crate::recording) fn asks_to_end(number: i32) -> bool {
        ![Signal::USR1, Signal::USR2].iter().any(|signal| signal.as_raw() == number)
    }

    pub(in crate::recording) fn send(pid: u32, number: i32) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let signal = HANDED_ON.into_iter().find(|signal| signal.as_raw() == number);
        if let (Some(pid), Some(signal)) = (pid, signal) {
            // Fails only if the command has exited, which is noticed next.
            let _ = kill_process(pid, signal);
        }
    }

    /// Takes the signal of a file that grows beyond a limit, so that the write fails instead and the session continues. A
    /// handler, unlike an ignored signal, is not inherited by the command.
    /// Does nothing outside a runtime.
    pub fn survive_file_limit() {
        if tokio::runtime::Handle::try_current().is_ok() {
            let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
        }
    }
}

#[cfg(not(unix))]
pub use self::other::survive_file_limit;
#[cfg(not(unix))]
pub(super) use self::other::{Signals, asks_to_end, send};

#[cfg(not(unix))]
mod other {
    pub(in crate::recording) struct Signals;

    impl Signals {
        pub(in crate::recording) fn listen() -> Self {
            Self
        }

        pub(in crate::recording) async fn next(&mut self) -> i32 {
            std::future::pending().await
        }
    }

    pub(in crate::recording) fn asks_to_end(_: i32) -> bool {
        true
    }

    pub(in crate::recording) fn send(_: u32, _: i32) {}

    /// Other systems have no such signal.
    pub fn survive_file_limit() {}
}
