//! A program in a terminal of its own, of which a test reads the screen.

use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// A program in a terminal; it is killed when this value is dropped.
pub struct InTerminal {
    child: Box<dyn Child + Send + Sync>,
    terminal: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    /// All that the program has written so far.
    written: Vec<u8>,
    screen: vt100::Parser,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

/// A number of rows or columns as the screen wants it.
fn some(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a terminal has rows and columns")
}

impl InTerminal {
    /// Starts a command in a terminal of this size, with more variables in its environment.
    pub fn start(
        command: &std::process::Command,
        (columns, rows): (u16, u16),
        variables: &[(&str, &str)],
    ) -> InTerminal {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a terminal");
        let mut builder = CommandBuilder::new(command.get_program());
        builder.args(command.get_args());
        builder.env_remove("NO_COLOR");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => builder.env(name, value),
                None => builder.env_remove(name),
            }
        }
        builder.env("TERM", "xterm-256color");
        variables.iter().for_each(|(name, value)| builder.env(name, value));
        let child = pair.slave.spawn_command(builder).expect("the program starts");
        // With the other end open here, the output would have no end.
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("the terminal can be read");
        let keys = pair.master.take_writer().expect("the terminal can be written to");
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal whose program has gone ends with an error.
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        let screen = vt100::Parser::new(some(rows), some(columns), 0);
        InTerminal { child, terminal: pair.master, keys, output, written: Vec::new(), screen }
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.process_id().expect("a process that runs")
    }

    /// The screen.
    pub fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// All that the program has written.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }

    /// Presses keys, as the bytes that a terminal sends for them.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the program reads its keys");
        self.keys.flush().expect("the program reads its keys");
    }

    /// Changes the size of the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.screen_mut().set_size(some(rows), some(columns));
        self.terminal.resize(size(columns, rows)).expect("the terminal changes its size");
    }

    /// Waits until the screen has what is wanted.
    pub fn wait_until(&mut self, limit: Duration, wanted: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + limit;
        loop {
            let shown = self.screen().contents();
            if wanted(&shown) {
                return shown;
            }
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.take(&bytes),
                Err(error) => panic!("{error}; the screen has\n{shown}"),
            }
        }
    }

    /// Waits until the screen has this text.
    pub fn wait_for(&mut self, limit: Duration, text: &str) -> String {
        self.wait_until(limit, |shown| shown.contains(text))
    }

    /// Waits for the end; gives back the exit code.
    pub fn end(&mut self, limit: Duration) -> u32 {
        self.end_watched(limit, |_| ())
    }

    /// The same; each screen on the way is looked at.
    fn end_watched(&mut self, limit: Duration, mut look: impl FnMut(&vt100::Screen)) -> u32 {
        let end = Instant::now() + limit;
        loop {
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => {
                    self.take(&bytes);
                    look(self.screen());
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(error) => panic!("{error}; the screen has\n{}", self.screen().contents()),
            }
        }
        self.child.wait().expect("a child can be waited for").exit_code()
    }

    /// Whether the terminal echoes and gives its input line by line, as a shell wants it.
    pub fn is_as_before(&self) -> bool {
        use rustix::termios::{LocalModes, tcgetattr};
        let name = self.terminal.tty_name().expect("a terminal has a name");
        let device = std::fs::File::open(name).expect("a terminal can be opened");
        let modes = tcgetattr(device).expect("the modes of a terminal").local_modes;
        let shown = self.screen();
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
            && !shown.alternate_screen()
            && !shown.hide_cursor()
    }

    fn take(&mut self, bytes: &[u8]) {
        self.screen.process(bytes);
        self.written.extend_from_slice(bytes);
    }
}

impl Drop for InTerminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a terminal has shown of a command that has ended.
pub struct Shown {
    /// The exit code.
    pub code: u32,
    /// All bytes that came.
    pub bytes: Vec<u8>,
    /// The screen after each time that some came.
    pub screens: Vec<String>,
}

impl Shown {
    /// The screen at the end.
    pub fn last(&self) -> &str {
        self.screens.last().map_or("", String::as_str)
    }
}

/// Runs a command to its end, within `limit`, in a terminal of so many rows and columns.
pub fn on_terminal(
    command: &std::process::Command,
    rows: u16,
    columns: u16,
    limit: Duration,
) -> Shown {
    let mut terminal = InTerminal::start(command, (columns, rows), &[]);
    let mut screens = Vec::new();
    let code = terminal.end_watched(limit, |screen| screens.push(screen.contents()));
    Shown { code, bytes: std::mem::take(&mut terminal.written), screens }
}
