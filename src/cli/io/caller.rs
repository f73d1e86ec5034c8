//! The command called from a program, not from a shell: what it prints is returned, its progress goes to a function,
//! and a flag takes the place of Ctrl-C.

use std::cell::RefCell;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use collsynth::plan::Progress;

thread_local! {
    /// The caller that the command runs for on this thread; none: a shell.
    static CALLER: RefCell<Option<Caller>> = const { RefCell::new(None) };
}

/// The name under which a caller hears of what no planner does.
pub(crate) const TOOL: &str = "synth";

/// Hears of progress.
pub type Listener = Arc<dyn Fn(Progress<'_>) + Send + Sync>;

struct Caller {
    input: Option<String>,
    interrupted: Arc<AtomicBool>,
    listener: Listener,
    output: String,
    notes: String,
}

/// What a command called from a program gave.
pub struct Answer {
    /// The exit code.
    pub exit_code: u8,
    /// What it would have printed to standard output.
    pub output: String,
    /// What it would have printed to standard error.
    pub notes: String,
}

/// Runs the command with these words, the first of them its name, for a program: `input` is its standard input, and
/// `interrupted` stops it as Ctrl-C would. Plans on the threads of the rayon pool that it is called in.
pub fn call(
    words: impl IntoIterator<Item = OsString>,
    input: String,
    interrupted: Arc<AtomicBool>,
    listener: Listener,
) -> Answer {
    let caller = Caller { input: Some(input), interrupted, listener, output: String::new(), notes: String::new() };
    CALLER.set(Some(caller));
    let exit_code = crate::cli::run(words);
    let Caller { output, notes, .. } = CALLER.take().expect("set above");
    Answer { exit_code, output, notes }
}

/// The caller's standard input, if a program calls; nothing within where it was read.
pub(crate) fn input() -> Option<Option<String>> {
    with(|caller| caller.input.take())
}

/// True if a program calls, not a shell.
pub(crate) fn is_program() -> bool {
    with(|_| ()).is_some()
}

/// The caller's flag in place of Ctrl-C.
pub(crate) fn interrupted() -> Option<Arc<AtomicBool>> {
    with(|caller| Arc::clone(&caller.interrupted))
}

/// The function of the caller that hears of progress.
pub(crate) fn listener() -> Option<Listener> {
    with(|caller| Arc::clone(&caller.listener))
}

/// Keeps what is printed to standard output; false: there is no caller.
pub(crate) fn print(text: &str) -> bool {
    with(|caller| caller.output.push_str(text)).is_some()
}

/// Keeps what is printed to standard error; false: there is no caller.
pub(crate) fn note(line: &str) -> bool {
    with(|caller| caller.notes.extend([line, "\n"])).is_some()
}

/// Tells the caller, if there is one, what is being done.
pub(crate) fn tell(attempt: &str) {
    if let Some(listener) = listener() {
        listener(Progress { planner: TOOL, attempt, round: 0, remaining: 0 });
    }
}

fn with<T>(use_it: impl FnOnce(&mut Caller) -> T) -> Option<T> {
    CALLER.with_borrow_mut(|caller| caller.as_mut().map(use_it))
}
