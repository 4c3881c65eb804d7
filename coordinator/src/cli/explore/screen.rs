//! The terminal: keys in, frames out, and the search in between. The terminal is as it was afterwards, whatever
//! happens.

use std::time::Duration;

use anyhow::Context;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::background::Background;
use super::keys::action;
use super::looking::Looker;
use super::model::Explorer;
use super::view::{Palette, draw};
use crate::cli::End;
use crate::cli::interrupt::Interrupt;

/// How long the loop waits for a key before it looks for findings and signals.
const PULSE: Duration = Duration::from_millis(50);

/// Shows the explorer until the user ends it.
pub fn run(mut explorer: Explorer, looker: Looker) -> anyhow::Result<End> {
    let interrupt = Interrupt::listen(None)?;
    let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let background = Background::start(looker)?;
    // This also has a panic restore the terminal before it says anything.
    let terminal = ratatui::try_init().inspect_err(|_| drop(ratatui::try_restore()));
    let mut terminal = terminal.context("cannot use this terminal")?;
    let ended = follow(&mut terminal, &mut explorer, &background, &interrupt, Palette { colours });
    let restored = ratatui::try_restore().context("cannot give the terminal back as it was");
    let end = ended?;
    restored?;
    Ok(end)
}

fn follow(
    terminal: &mut DefaultTerminal,
    explorer: &mut Explorer,
    background: &Background,
    interrupt: &Interrupt,
    palette: Palette,
) -> anyhow::Result<End> {
    let mut asked = None;
    let mut drawn = false;
    while !explorer.is_over() {
        if interrupt.is_asked() {
            return Ok(End::Unsolved);
        }
        while let Some(found) = background.found()? {
            explorer.learn(found);
            drawn = false;
        }
        if asked != Some(explorer.version()) {
            background.look_at(explorer.played());
            asked = Some(explorer.version());
        }
        if !drawn {
            terminal.draw(|frame| draw(frame, explorer, palette))?;
            drawn = true;
        }
        if event::poll(PULSE)? {
            drawn = false;
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    if let Some(action) = action(key, |letter| explorer.is_of_move(letter)) {
                        explorer.act(action);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(End::Solved)
}
