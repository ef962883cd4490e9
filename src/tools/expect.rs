//! expect: answers the questions that the caller foresees, in whatever order they come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::json;

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::header::Status;
use crate::reply::{Reply, words};
use crate::session::front::Front;
use crate::session::typing::Keys;
use crate::session::{Session, State};

use super::args::{Args, TIMEOUT_DEFAULT, TIMEOUT_MOST};
use super::left_over::protected;
use super::outcome::{self, Goal, Outcome, Target};
use super::report::Show;
use super::rules::{Answer, Heard, Rule};
use super::type_line::{Line, Typed, type_line};
use super::{Context, Failure, run};

/// A program that asks for ever is answered so often in one call.
const ANSWERS_MOST: usize = 500;

/// Answers that a reply lists; the facts have all.
const ANSWERS_SHOWN: usize = 30;

pub fn tool() -> Tool {
    use schema::{boolean, integer, objects, string, strings};
    Tool {
        name: "expect",
        title: "Answer foreseen questions",
        description: "Runs a command (or goes on with what waits now) and answers the questions that you foresee, in whatever order they come: \
installers, confirmations, logins, wizards. Each rule has a regular expression and one of `line` (text and Enter), `text`, `keys` or `stop`; it \
answers a question once each time that it is asked, never twice on the same text. Returns when the command has ended, with its output and exit \
status as `run` gives them; at once with status unanswered when something is asked that no rule answers; when the program is back at its \
prompt; when `until` or a stop rule matches. The reply has a transcript of what matched and what was sent (dots for what was not shown), and the \
rules that never matched. Use it in place of the expect program, `yes |` and here-documents; for one question `run` is enough.",
        input_schema: schema::object([
            string("session", "Name of an open session.").required(),
            objects(
                "respond",
                "The rules; the first that matches answers.",
                [
                    string(
                        "pattern",
                        "Regular expression (Rust syntax) for a line of the question.",
                    )
                    .required(),
                    string("line", "Answer: this text and Enter."),
                    string("text", "Answer: this text alone."),
                    strings("keys", "Answer: these keys, as `send` names them."),
                    boolean("stop", "No answer: return at once, while it runs on."),
                    integer("times", "Answer at most so often.").min(1),
                ],
            )
            .required(),
            string(
                "input",
                "The line to type first. Without it, what waits or runs now is answered.",
            ),
            string(
                "until",
                "Regular expression: return as soon as a line of the output matches.",
            ),
            integer(
                "timeout_s",
                "Seconds to wait for the end. What runs longer goes on.",
            )
            .default(TIMEOUT_DEFAULT)
            .min(0)
            .max(TIMEOUT_MOST),
            integer("max_lines", "Lines of output in the reply.")
                .default(80)
                .min(1)
                .max(10_000),
            string(
                "prompt_pattern",
                "Regular expression for the prompt of a program whose prompt is not known.",
            ),
            boolean(
                "force",
                "Clear unsubmitted text of another off the prompt line first.",
            )
            .default(false),
        ]),
        output_schema: None,
        annotations: Annotations {
            destructive: true,
            open_world: true,
            ..Annotations::default()
        },
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let rules = Rule::take(&mut args)?;
    let input = args.string("input")?;
    let until = args.regex("until")?;
    let timeout = args
        .number("timeout_s", 0, TIMEOUT_MOST)?
        .unwrap_or(TIMEOUT_DEFAULT);
    let show = Show::lines(&mut args)?;
    let prompt = args.regex("prompt_pattern")?;
    let force = args.flag("force")?;
    args.done()?;
    if let Some(input) = &input {
        if run::lines_of(input)?.len() > 1 {
            return Err(Failure::from(
                "expect: `input` is one line; `run` takes several. Nothing was typed".to_string(),
            ));
        }
    }
    let session = context.sessions.get_live(&name)?;
    let _typist = session.typist(context.agent, "expect", context.cancel)?;
    let deadline = Instant::now() + Duration::from_secs(timeout);
    let begun = begin(context, &session, input.as_deref(), force)?;
    let mut talk = Talk {
        context,
        session: &session,
        rules,
        until,
        prompt,
        deadline,
        target: begun.typed.target,
        heard: begun.heard,
        typed: input.is_some().then_some(begun.typed.at),
        said: Vec::new(),
    };
    let typed = begun.typed;
    let outcome = talk.hold()?;
    if let Some(id) = outcome.region {
        outcome::close_input(&session, id, &outcome.status);
    }
    let mut reply = run::tell(context, &session, &typed, &outcome, &show, "")?;
    talk.heard.release(&mut session.state());
    talk.tell(&mut reply, &outcome);
    Ok(reply)
}

/// What is waited for, and from where on its questions are fresh.
struct Begun {
    typed: Typed,
    heard: Heard,
}

fn begin(
    context: &Context<'_>,
    session: &Arc<Session>,
    input: Option<&str>,
    force: bool,
) -> Result<Begun, Failure> {
    if let Some(input) = input {
        let line = Line {
            text: input.trim_end_matches(['\n', '\r']),
            enters: 1,
            human: None,
            force,
        };
        let typed = type_line(context, session, &line)?;
        let heard = Heard::after(typed.mark, typed.target);
        return Ok(Begun { typed, heard });
    }
    let front = context.sessions.front(session);
    let typed = front.typed().unwrap_or_default();
    if !force && !session.state().owns(context.agent, typed) {
        return Err(protected(session, &front));
    }
    let asks = match &front {
        Front::Shell { .. } | Front::Between => {
            return Err(Failure::from(format!(
                "the shell of {} is at its prompt and asks nothing; give the command as `input`. Nothing was typed",
                session.name
            )));
        }
        Front::Working { .. } | Front::Over(_) => None,
        Front::Prompt { line, .. } | Front::Waiting { line, .. } | Front::Unclear { line, .. } => {
            Some(line.clone())
        }
        Front::Fullscreen { .. } => Some(String::new()),
    };
    let mut state = session.state();
    let at = state.moment();
    let state = &mut *state;
    let running = state
        .regions
        .open_input()
        .or_else(|| state.regions.running());
    let target = match (asks, running.map(|region| region.id)) {
        // What works will ask later.
        (None, Some(id)) => id,
        (label, _) => {
            let who = Some(context.agent.to_string());
            let mark = state.term.mark_line();
            let label = label.unwrap_or_default();
            let id = state.regions.input(&mut state.term, label, who, mark, at);
            state.regions.never_echoed();
            id
        }
    };
    Ok(Begun {
        typed: Typed {
            target: Target::Region(target),
            mark: state.term.mark(),
            at: Instant::now(),
            cleared: None,
        },
        heard: Heard::standing(state),
    })
}

/// The conversation.
struct Talk<'a> {
    context: &'a Context<'a>,
    session: &'a Arc<Session>,
    rules: Vec<Rule>,
    until: Option<Regex>,
    prompt: Option<Regex>,
    deadline: Instant,
    target: Target,
    heard: Heard,
    typed: Option<Instant>,
    said: Vec<Said>,
}

/// One answer.
struct Said {
    /// The text that matched.
    matched: String,
    pattern: String,
    sent: String,
}

impl Talk<'_> {
    /// Waits and answers until there is nothing to answer.
    fn hold(&mut self) -> Result<Outcome, Failure> {
        loop {
            let outcome = self.wait()?;
            if let Some(id) = outcome.region {
                self.target = Target::Region(id);
            }
            let (at, secret) = match &outcome.status {
                Status::Until => return Ok(self.stopped(outcome)),
                // Nothing tells from here whether another machine shows what is typed.
                Status::Waiting { at, secret, hedged } => {
                    (at.clone(), *secret || *hedged && looks_secret(at))
                }
                Status::Prompt { at } => (at.clone(), false),
                _ => return Ok(outcome),
            };
            let found = self.heard.question(&self.session.state(), &self.rules)?;
            match found {
                Some((rule, matched)) if self.said.len() < ANSWERS_MOST => {
                    self.answer(rule, matched, secret)?;
                }
                _ if matches!(outcome.status, Status::Waiting { .. }) => {
                    let status = Status::Unanswered { at, secret };
                    return Ok(Outcome { status, ..outcome });
                }
                _ => return Ok(outcome),
            }
        }
    }

    fn wait(&self) -> Result<Outcome, Failure> {
        let failed = std::cell::Cell::new(None);
        let asks = |state: &State| match self.heard.question(state, &self.rules) {
            Ok(found) => found.is_some(),
            Err(error) => {
                failed.set(Some(error));
                false
            }
        };
        let ends = |line: &str| {
            self.until
                .as_ref()
                .is_some_and(|until| until.is_match(line))
                || self.rules.iter().any(|rule| rule.stops(line))
        };
        let goal = Goal {
            target: self.target,
            until: Some(&ends),
            heard: Some(&self.heard),
            deadline: self.deadline,
            typed: self.typed,
            settle: Duration::from_millis(run::SETTLE_DEFAULT),
            prompt: self.prompt.as_ref(),
            asks: Some(&asks),
            patient: false,
            cancel: self.context.cancel,
            progress: self.context.progress,
        };
        let outcome = outcome::wait(self.context.sessions, self.session, &goal)?;
        match failed.take() {
            Some(error) => Err(Failure::from(error)),
            None => Ok(outcome),
        }
    }

    fn answer(&mut self, rule: usize, matched: String, secret: bool) -> Result<(), Failure> {
        self.rules[rule].fired += 1;
        let Answer::Send { text, keys, shown } = &self.rules[rule].answer else {
            return Ok(());
        };
        let (text, keys, shown) = (text.clone(), keys.clone(), shown.clone());
        self.typed = Some(Instant::now());
        {
            let mut state = self.session.state();
            self.heard.answered(&mut state, &text);
            state.stands_anew();
        }
        self.context.sessions.press(
            self.session,
            Keys {
                text: &text,
                bracketed: false,
                keys: &keys,
            },
        )?;
        self.said.push(Said {
            matched: words::one_line(&matched, 80),
            pattern: self.rules[rule].pattern.to_string(),
            sent: if secret {
                "••••••".into()
            } else {
                shown
            },
        });
        Ok(())
    }

    /// `until` or a stop rule has matched; a stop rule is named.
    fn stopped(&mut self, outcome: Outcome) -> Outcome {
        let stop = self.heard.stop_rule(&self.session.state(), &self.rules);
        let Some(rule) = stop else { return outcome };
        self.rules[rule].fired += 1;
        self.said.push(Said {
            matched: String::new(),
            pattern: self.rules[rule].pattern.to_string(),
            sent: "stop".into(),
        });
        Outcome {
            status: Status::Stopped,
            ..outcome
        }
    }

    fn tell(&self, reply: &mut Reply, outcome: &Outcome) {
        for said in self.said.iter().take(ANSWERS_SHOWN) {
            reply.note(match said.matched.as_str() {
                "" => format!("rule {:?} matched: stopped", said.pattern),
                matched => format!("asked {matched:?}, answered {}", said.sent),
            });
        }
        if self.said.len() > ANSWERS_SHOWN {
            let more = (self.said.len() - ANSWERS_SHOWN) as u64;
            reply.note(format!("{} more", words::count(more, "answer")));
        }
        if self.said.len() >= ANSWERS_MOST {
            reply.note(format!(
                "{ANSWERS_MOST} answers are given in one call; it asks on"
            ));
        }
        let never: Vec<String> = self
            .rules
            .iter()
            .filter(|rule| rule.fired == 0)
            .map(|rule| format!("{:?}", rule.pattern.as_str()))
            .collect();
        if !never.is_empty() {
            reply.note(format!("never matched: {}", never.join(", ")));
        }
        if let Status::Unanswered { secret, .. } = &outcome.status {
            reply.note(if *secret {
                run::SECRET.to_string()
            } else {
                "no rule answers that: answer with `run`, or call `expect` again without `input`"
                    .into()
            });
        }
        let said = self.said.iter().map(
            |said| json!({ "pattern": said.pattern, "matched": said.matched, "sent": said.sent }),
        );
        reply.fact("sent", said.collect::<Vec<_>>());
    }
}

/// A question for what must not be shown, by its words.
fn looks_secret(at: &str) -> bool {
    let at = at.to_ascii_lowercase();
    [
        "password",
        "passphrase",
        "passcode",
        "secret",
        "pin:",
        "token",
    ]
    .iter()
    .any(|word| at.contains(word))
}
