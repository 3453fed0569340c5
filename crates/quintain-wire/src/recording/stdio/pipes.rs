//! The pipes of a session, each owned by the one thread that passes its bytes on: dropping a pipe closes it, so that its
//! other side sees the end as it would without a recorder.

#[cfg(not(unix))]
pub(super) use self::other::*;
#[cfg(unix)]
pub(super) use self::unix::*;

/// What a thread may do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ready {
    /// Read: there are bytes, or the end.
    Read,
    /// Stop: nobody reads what is passed on.
    Unread,
    /// Stop: the command has exited, and what still keeps its output open is silent.
    Silent,
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, PipeReader, PipeWriter, Read, Write};
    use std::os::fd::{AsFd, BorrowedFd};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::Ready;

    /// Something that can be waited for.
    pub(in super::super) trait Pipe: AsFd {}

    impl<T: AsFd> Pipe for T {}

    /// Takes standard input and output from this process, so that the owner alone keeps them open.
    pub(in super::super) fn take_client() -> io::Result<(impl Read + Pipe, impl Write + Pipe)> {
        let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        Ok((input, output))
    }

    /// Notifies a thread that waits for a pipe that the command has exited, when it is dropped.
    pub(in super::super) struct ExitNotice {
        _open: PipeWriter,
    }

    /// The receiving side of [`ExitNotice`].
    pub(in super::super) struct ExitWatch {
        notice: PipeReader,
        has_exited: bool,
        /// How long to wait for more output after the exit.
        trail: Duration,
    }

    pub(in super::super) fn exit_notice(trail: Duration) -> io::Result<(ExitNotice, ExitWatch)> {
        let (notice, open) = io::pipe()?;
        Ok((ExitNotice { _open: open }, ExitWatch { notice, has_exited: false, trail }))
    }

    /// Waits until there is something to read, or no reason to read on. Bytes that are there come first, unless
    /// the other side is closed.
    pub(in super::super) fn wait(
        from: &impl Pipe,
        to: &impl Pipe,
        mut exit: Option<&mut ExitWatch>,
    ) -> Ready {
        loop {
            let has_exited = exit.as_ref().is_some_and(|exit| exit.has_exited);
            let (source, sink) = (from.as_fd(), to.as_fd());
            let mut waiting =
                vec![PollFd::from_borrowed_fd(source, PollFlags::IN), reader_of(sink)];
            let limit = match &exit {
                Some(exit) if has_exited => Timespec::try_from(exit.trail).ok(),
                Some(exit) => {
                    waiting.push(PollFd::from_borrowed_fd(exit.notice.as_fd(), PollFlags::IN));
                    None
                }
                None => None,
            };
            match poll(&mut waiting, limit.as_ref()) {
                Ok(0) => return Ready::Silent,
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                // It cannot be waited for, so the read waits.
                Err(_) => return Ready::Read,
            }
            let happened: Vec<PollFlags> = waiting.iter().map(PollFd::revents).collect();
            if happened[1].intersects(PollFlags::ERR | PollFlags::HUP) {
                return Ready::Unread;
            }
            if !happened[0].is_empty() {
                return Ready::Read;
            }
            if let (Some(exit), Some(true)) =
                (&mut exit, happened.get(2).map(|flags| !flags.is_empty()))
            {
                exit.has_exited = true;
            }
        }
    }

    /// Asks only for errors: they show that the reader is gone.
    fn reader_of(sink: BorrowedFd<'_>) -> PollFd<'_> {
        PollFd::from_borrowed_fd(sink, PollFlags::empty())
    }

    /// Whether a read would return at once.
    pub(in super::super) fn has_input(from: &impl Pipe) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let source = from.as_fd();
        let mut waiting = [PollFd::from_borrowed_fd(source, PollFlags::IN)];
        poll(&mut waiting, Some(&now)).is_ok_and(|count| count > 0)
    }

    /// Waits until a pipe that the client has set to non-blocking takes bytes again.
    pub(in super::super) fn wait_for_room(to: &impl Pipe) {
        let sink = to.as_fd();
        let _ = poll(&mut [PollFd::from_borrowed_fd(sink, PollFlags::OUT)], None);
    }
}

#[cfg(not(unix))]
mod other {
    use std::io::{self, Read, Write};
    use std::time::Duration;

    use super::Ready;

    pub(in super::super) trait Pipe {}

    impl<T> Pipe for T {}

    pub(in super::super) fn take_client() -> io::Result<(impl Read + Pipe, impl Write + Pipe)> {
        Ok((io::stdin(), io::stdout()))
    }

    pub(in super::super) struct ExitNotice;

    pub(in super::super) struct ExitWatch;

    pub(in super::super) fn exit_notice(_: Duration) -> io::Result<(ExitNotice, ExitWatch)> {
        Ok((ExitNotice, ExitWatch))
    }

    /// Pipes cannot be waited for here, so the read waits.
    pub(in super::super) fn wait(_: &impl Pipe, _: &impl Pipe, _: Option<&mut ExitWatch>) -> Ready {
        Ready::Read
    }

    pub(in super::super) fn has_input(_: &impl Pipe) -> bool {
        false
    }

    pub(in super::super) fn wait_for_room(_: &impl Pipe) {
        std::thread::yield_now();
    }
}
