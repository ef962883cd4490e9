//! shell_integrate: makes a plain shell that waits at its prompt tell of its commands.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::mcp::{Annotations, Tool, schema};
use crate::place::files::Shell;
use crate::place::source;
use crate::reply::Reply;
use crate::reply::header::Status;
use crate::reply::words;
use crate::session::front::Front;
use crate::session::watch::Woken;
use crate::session::{RegionId, Session};

use super::args::Args;
use super::left_over::protected;
use super::outcome::{self, Goal, Outcome, Target};
use super::type_line::{Line, type_line};
use super::{Context, Failure};

const TIMEOUT_DEFAULT: u64 = 10;
const TIMEOUT_MOST: u64 = 120;

/// After the line has been answered by a plain prompt, markers that are on their way have come.
const MARKERS_FOLLOW: Duration = Duration::from_millis(500);

/// Output quiet for so long is a prompt's, whatever it looks like.
const SETTLE: Duration = Duration::from_secs(1);

/// One of the integration's files: with it, all can be read.
const ANY_FILE: &str = "bash/rc";

pub fn tool() -> Tool {
    use schema::{boolean, integer, string};
    Tool {
        name: "shell_integrate",
        title: "Integrate a plain shell",
        description: "Makes a plain bash, zsh or fish that waits at its prompt report exact exit statuses and command boundaries, as a session's \
own shell does: after ssh, sudo -i, su or in a container, when replies show a prompt in place of exit statuses. Types one line that loads the \
integration (and before it, on another host, one harmless line that asks which shell it is). On another host the integration's files must \
be there: where they are not, the reply names the command for the user to run, and the answer is remembered for 12 hours. dash, ksh, csh and \
others have no integration and are left alone. Refused while something else is in front. To open a new connection use `run` input=\"paneglass ssh HOST\" \
instead, which needs nothing on the host; for containers, `paneglass into podman exec -it NAME`.",
        input_schema: schema::object([
            string("session", "Name of an open session.").required(),
            integer("timeout_s", "Seconds to wait for the shell's answer.")
                .default(TIMEOUT_DEFAULT)
                .min(1)
                .max(TIMEOUT_MOST),
            boolean("force", "Try although the files were missing there within 12 hours, and clear unsubmitted text of another off the line.")
                .default(false),
        ]),
        output_schema: None,
        annotations: Annotations { open_world: true, ..Annotations::default() },
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let timeout = args
        .number("timeout_s", 1, TIMEOUT_MOST)?
        .unwrap_or(TIMEOUT_DEFAULT);
    let force = args.flag("force")?;
    args.done()?;
    let session = context.sessions.get_live(&name)?;
    let _typist = session.typist(context.agent, "shell_integrate", context.cancel)?;
    let attempt = Attempt {
        context,
        session: &session,
        deadline: Instant::now() + Duration::from_secs(timeout),
        force,
    };
    attempt.integrate()
}

struct Attempt<'a> {
    context: &'a Context<'a>,
    session: &'a Arc<Session>,
    deadline: Instant,
    force: bool,
}

impl Attempt<'_> {
    fn integrate(&self) -> Result<Reply, Failure> {
        let front = self.context.sessions.front(self.session);
        if let Front::Shell { .. } | Front::Between = front {
            return Ok(self.reply(
                "settled",
                "the shell in front is integrated already; nothing was typed",
            ));
        }
        self.refuse(&front)?;
        let place = self.context.sessions.place(self.session);
        // Under the same name only what is certain may be remembered.
        let remembered = match &place {
            None => Some(crate::session::place::home()),
            Some(place) => place.certain().map(String::from),
        };
        let local = self.local(&front);
        if let Some(place) = remembered.as_deref().filter(|place| {
            !self.force && local.is_none() && self.context.sessions.is_missing(place)
        }) {
            return Err(self.missing(place, "were not found there within the last 12 hours; nothing was typed (force=true tries again)"));
        }
        let far = local.is_none();
        let (shell, name, dir) = match local {
            Some((name, dir)) => (Shell::named(&name), name, dir),
            None => {
                let (name, reads) = self.ask()?;
                (
                    Shell::named(&name),
                    name,
                    self.own_files().filter(|_| reads),
                )
            }
        };
        let Some(shell) = shell else {
            return Ok(self.reply(
                "settled",
                &format!(
                    "{} is at the prompt: there is no integration for it",
                    words::one_line(&name, 40)
                ),
            ));
        };
        let line = source::source(shell, &self.session.meta.nonce, dir.as_deref());
        self.type_and_wait(&line)?;
        let here = remembered.as_deref();
        if self.integrated() {
            if let Some(place) = here {
                self.context.sessions.set_missing(place, false)?;
            }
            let mut reply = self.reply(
                "done",
                &format!("{name} is integrated: exit statuses are exact from here on"),
            );
            reply.fact(
                "prompt",
                words::one_line(&self.session.state().term.cursor_line(), 200),
            );
            return Ok(reply);
        }
        if far && dir.is_none() {
            if let Some(place) = here {
                self.context.sessions.set_missing(place, true)?;
            }
        }
        let place = place.map_or_else(crate::session::place::home, |place| place.to_string());
        Err(self.missing(
            &place,
            "did not load there (the shell's own words are in the session)",
        ))
    }

    fn reply(&self, status: &str, text: &str) -> Reply {
        let mut reply = Reply::new(format!("[{} · {text}]", self.session.name));
        reply.fact("session", self.session.name.as_str());
        reply.fact("status", status);
        reply
    }

    fn missing(&self, place: &str, how: &str) -> Failure {
        Failure::from(format!(
            "not integrated: the integration's files of {place} {how}. Ask the user to run once: paneglass install {place} (for another user of \
this host, as that user: paneglass shell --dir ~/{}); or open the connection with `paneglass ssh` in place of ssh, or `paneglass into` for a container, \
which need nothing there",
            source::installed()
        ))
    }

    /// Only a shell's prompt may be typed at.
    fn refuse(&self, front: &Front) -> Result<(), Failure> {
        let session = &self.session.name;
        match front {
            front if front.typed().is_some_and(|typed| !typed.is_empty()) && !self.force => {
                Err(protected(self.session, front))
            }
            Front::Prompt { line, .. } => {
                let prompts = self.session.state().prompts.clone();
                match prompts.matches(line) {
                    Some(program) if !prompts.is_shells(program) => Err(Failure::from(format!(
                        "{session} is at a prompt of {program}, not of a shell; nothing was typed"
                    ))),
                    _ => Ok(()),
                }
            }
            Front::Waiting { view, .. } if view.secret => Err(Failure::from(format!(
                "{} reads a secret in {session}; nothing was typed",
                front.name()
            ))),
            Front::Waiting { .. } | Front::Unclear { .. } if self.force => Ok(()),
            _ => Err(Failure::from(format!(
                "no shell's prompt waits in {session} ({} is in front); nothing was typed. With a prompt that is not known as one, force=true types all the same",
                front.name()
            ))),
        }
    }

    /// The shell in front when it is a process of this host: its name, and the folder with the files that it can
    /// read; none: those in its user's home.
    fn local(&self, front: &Front) -> Option<(String, Option<std::path::PathBuf>)> {
        let (Front::Prompt { view, .. } | Front::Waiting { view, .. }) = front else {
            return None;
        };
        if view.verdict != crate::proc::Verdict::Waiting {
            return None;
        }
        let process = view.process.as_ref()?;
        let proc = &self.context.sessions.proc;
        let file = proc.exe(process.pid);
        let name = file
            .as_deref()
            .and_then(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned())
            .or_else(|| Some(process.name.split(' ').next()?.to_string()))?;
        let reads_ours = proc
            .status(process.pid)
            .is_some_and(|status| status.euid == 0 || status.euid == self.context.sessions.uid());
        let dir = self
            .own_files()
            .filter(|dir| reads_ours && proc.sees_file(process.pid, &dir.join(ANY_FILE)));
        Some((name, dir))
    }

    /// The server's own copy of the files.
    fn own_files(&self) -> Option<std::path::PathBuf> {
        self.context.sessions.shell_files().ok()
    }

    /// Types the line that asks which shell this is, and takes its answer.
    fn ask(&self) -> Result<(String, bool), Failure> {
        self.session.state().which = None;
        let file = self.own_files().unwrap_or_default().join(ANY_FILE);
        self.type_and_wait(&source::which(&self.session.meta.nonce, &file))?;
        let told = self.session.state().which.take();
        told.filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
            Failure::from(format!(
                "what is at the prompt of {} did not say which shell it is; look with `read`, and press ctrl+c with `send` if it wants more",
                self.session.name
            ))
        })
    }

    /// Types a line, and waits for what it comes to and for the markers that it may bring.
    fn type_and_wait(&self, line: &str) -> Result<Outcome, Failure> {
        let line = Line {
            text: line,
            enters: 1,
            human: None,
            force: self.force,
        };
        let typed = type_line(self.context, self.session, &line)?;
        let goal = Goal {
            target: typed.target,
            until: None,
            heard: None,
            prompt: None,
            asks: None,
            deadline: self.deadline,
            typed: Some(typed.at),
            settle: SETTLE,
            patient: false,
            cancel: self.context.cancel,
            progress: self.context.progress,
        };
        let outcome = outcome::wait(self.context.sessions, self.session, &goal)?;
        self.session.state().term.release(typed.mark);
        let watch = self.session.watch();
        let grace = Instant::now() + MARKERS_FOLLOW;
        while !self.integrated()
            && self.session.state().which.is_none()
            && watch.wait(grace, self.context.cancel) == Woken::Changed
        {}
        if let Target::Region(id) = typed.target {
            self.close(id);
        }
        Ok(outcome)
    }

    /// The line's region ends where the shell's prompt begins, whoever has printed that.
    fn close(&self, id: RegionId) {
        let at = self.session.state().term.cursor_line();
        outcome::close_input(self.session, id, &Status::Prompt { at });
        let mut state = self.session.state();
        let told = state.regions.last_id();
        state
            .agents
            .entry(self.context.agent.to_string())
            .or_default()
            .told = told;
    }

    fn integrated(&self) -> bool {
        self.session.state().regions.prompt().is_some()
    }
}
