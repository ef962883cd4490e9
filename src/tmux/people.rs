//! People at our panes: clients of the tmux server that are not programs.

use super::command::{Error, Tmux};

/// A person's terminal that is attached to one of the server's sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// tmux's id of the session ("$2").
    pub session: String,
    /// Their keys do nothing.
    pub read_only: bool,
    /// When tmux last heard of them, epoch seconds: they attached, typed, moved the mouse or the window.
    pub active: u64,
}

const FORMAT: &str = "#{session_id} #{client_control_mode} #{client_readonly} #{client_activity}";

impl Person {
    fn parse(line: &str) -> Option<Person> {
        let mut fields = line.split(' ');
        let session = fields.next().filter(|id| id.starts_with('$'))?.to_string();
        // A control client is a program.
        fields.next().filter(|control| *control != "1")?;
        let read_only = fields.next()? == "1";
        let active = fields.next()?.parse().unwrap_or(0);
        Some(Person {
            session,
            read_only,
            active,
        })
    }
}

impl Tmux {
    /// Everyone who is attached; nobody when no server runs.
    pub fn people(&self) -> Result<Vec<Person>, Error> {
        let words = ["list-clients", "-F", FORMAT];
        match self.run_fast(&[&words]).unwrap_or_else(|| self.run(&words)) {
            Ok(out) => Ok(out.lines().filter_map(Person::parse).collect()),
            Err(Error::NoServer) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_client_is_nobody() {
        let person = Person::parse("$3 0 1 1796073572").unwrap();
        assert_eq!(
            (person.session.as_str(), person.read_only, person.active),
            ("$3", true, 1_796_073_572)
        );
        assert_eq!(Person::parse("$3 1 0 1796073572"), None);
        assert_eq!(Person::parse(""), None);
    }
}
