//! What somebody has typed at a shell's prompt and not submitted: told from what stood there before, and from what
//! background jobs print.

use super::state::State;

/// What is remembered of the line since its prompt was drawn.
#[derive(Debug, Default)]
pub struct PromptLine {
    /// Which prompt: the last line break before it.
    pub(super) prompt: Option<u64>,
    /// What stood after the prompt when it was drawn: older text that the cursor was left above.
    pub(super) before: String,
    /// What was typed, as last seen before something printed a line break.
    pub(super) typed: String,
}

impl State {
    /// A prompt has just been drawn, and nothing after it yet.
    pub(super) fn prompt_drawn(&mut self) {
        let Some(prompt) = self.regions.prompt() else {
            return;
        };
        // Drawn again, for a window of another size, it may stand before text that was typed.
        if self.line.prompt != Some(prompt.newline) {
            // Shells that draw again what is typed clear what is below first.
            let before = if prompt.redraws {
                String::new()
            } else {
                self.term.text_from(prompt.typed).trim().to_string()
            };
            self.line = PromptLine {
                prompt: Some(prompt.newline),
                before,
                typed: String::new(),
            };
        }
    }

    /// Output has come.
    pub(super) fn line_changed(&mut self) {
        if let Some(prompt) = self
            .regions
            .prompt()
            .filter(|prompt| prompt.redraws || self.regions.newline < prompt.drawn)
        {
            let text = self.term.text_from(prompt.typed);
            self.line.typed = if text.trim() == self.line.before {
                String::new()
            } else {
                text.trim().to_string()
            };
        }
    }

    /// The line has been cleared with keys: where a job has printed since the prompt, no text shows that.
    pub fn line_cleared(&mut self) {
        self.line.typed.clear();
    }

    /// The unsubmitted text at the prompt; `None` when no shell with markers is at one.
    pub fn typed(&self) -> Option<String> {
        let prompt = self.regions.prompt()?;
        if prompt.redraws || self.regions.newline < prompt.drawn {
            return Some(self.line.typed.clone());
        }
        // A background job has printed below the prompt, which the shell does not draw again: what had been typed
        // is still in its hands, and what is typed now shows on the cursor's line.
        let since = self.term.cursor_line();
        Some(format!("{}{}", self.line.typed, since.trim()))
    }
}
