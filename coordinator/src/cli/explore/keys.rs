//! What each key does.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Look at the move above.
    Up,
    /// Look at the move below.
    Down,
    /// Play the move that was typed, or the one that is looked at.
    Play,
    /// Go on with a move's name.
    Type(char),
    /// Take a typed character back, or a move where nothing is typed.
    Erase,
    /// Take a move back.
    Back,
    /// Play a move again that was taken back.
    Forward,
    /// Go to where the exploring began.
    Home,
    /// Play the next move of the line.
    Follow,
    /// Go to the end of the line.
    End,
    /// Look at the mirror image.
    Mirror,
    /// Have the program play the other side, or no side any more.
    Opponent,
    /// Have the program move for whoever is to move.
    MoveNow,
    /// Forget what is typed; end if there is nothing.
    Escape,
    /// End.
    Quit,
}

/// The letters that do something: alone where no move of the game has such a letter, and with Ctrl.
const LETTERS: [(char, Action); 4] =
    [('q', Action::Quit), ('r', Action::Mirror), ('o', Action::Opponent), ('n', Action::MoveNow)];

/// What a key does, if anything. `is_of_move` says whether a character may be one of a move's name.
pub fn action(key: KeyEvent, is_of_move: impl Fn(char) -> bool) -> Option<Action> {
    let of_letter = |letter: char| LETTERS.iter().find(|known| known.0 == letter).map(|it| it.1);
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Action::Quit),
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => of_letter(c),
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::ALT) => of_letter(c),
        KeyCode::Char(c) if is_of_move(c) => Some(Action::Type(c)),
        KeyCode::Char(c) => of_letter(c).or(Some(Action::Type(c))),
        KeyCode::Up => Some(Action::Up),
        KeyCode::Down => Some(Action::Down),
        KeyCode::Enter => Some(Action::Play),
        KeyCode::Left => Some(Action::Back),
        KeyCode::Right => Some(Action::Forward),
        KeyCode::Backspace => Some(Action::Erase),
        KeyCode::Home => Some(Action::Home),
        KeyCode::End => Some(Action::End),
        KeyCode::Tab => Some(Action::Follow),
        KeyCode::Esc => Some(Action::Escape),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_moves_are_typed_and_do_the_same_with_ctrl() {
        let press = |code, modifiers, of_move: bool| {
            action(KeyEvent::new(code, modifiers), move |_| of_move)
        };
        let none = KeyModifiers::NONE;
        for (letter, does) in LETTERS {
            let code = KeyCode::Char(letter);
            assert_eq!(press(code, none, false), Some(does));
            assert_eq!(press(code, none, true), Some(Action::Type(letter)));
            assert_eq!(press(code, KeyModifiers::CONTROL, true), Some(does));
        }
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL, true), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('x'), KeyModifiers::CONTROL, true), None);
        assert_eq!(press(KeyCode::Char('x'), none, false), Some(Action::Type('x')));
        assert_eq!(press(KeyCode::F(1), none, false), None);
    }
}
