//! What the server teaches a model: Markdown texts, and what is made from them.
#![forbid(unsafe_code)]

/// Sent once, at the start of a connection. Some clients cut it at 2,048 characters.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

#[cfg(test)]
mod tests {
    #[test]
    fn instructions_fit_every_client() {
        assert!(super::INSTRUCTIONS.chars().count() < 2_048);
    }
}
