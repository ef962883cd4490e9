//! A command line as far as advice needs it: its pipelines, their programs and words, where output goes. Not a shell:
//! nothing is expanded, and what is not understood gives no advice.

/// One program of a pipeline with its words as a shell would take them, quotes gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    pub words: Vec<String>,
    /// Files that standard output goes to.
    pub output: Vec<String>,
    /// Standard input is a file or a here-document.
    pub input: bool,
    /// `<<< text`.
    pub here: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    pub stages: Vec<Stage>,
    /// It ends with `&`.
    pub background: bool,
}

/// Words that may stand before a command.
const BEFORE: &[&str] = &[
    "!", "time", "do", "then", "else", "elif", "if", "while", "until", "{", "(", "sudo", "env",
    "exec", "command", "stdbuf", "nice",
];

impl Stage {
    /// The words from the program on: keywords, assignments and `sudo` are passed over.
    pub fn command(&self) -> &[String] {
        let before = |word: &&String| BEFORE.contains(&word.as_str()) || is_assignment(word);
        let skipped = self.words.iter().take_while(before).count();
        &self.words[skipped..]
    }

    /// The program's name without its folder; empty when there is none.
    pub fn program(&self) -> &str {
        let word = self.command().first().map_or("", String::as_str);
        word.rsplit('/').next().unwrap_or(word)
    }

    /// What follows the program.
    pub fn arguments(&self) -> &[String] {
        self.command().get(1..).unwrap_or_default()
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty()
            && name.chars().all(plain)
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

enum Token {
    Word(String),
    /// An operator between commands, or a redirection.
    Operator(String),
}

/// The pipelines of the line, in order. A here-document's text is no command: reading ends at its line.
pub fn parse(text: &str) -> Vec<Pipeline> {
    let mut pipelines = Vec::new();
    let mut pipeline = Pipeline::default();
    let mut stage = Stage::default();
    let mut tokens = tokens(text).into_iter();
    let end_stage = |pipeline: &mut Pipeline, stage: &mut Stage| {
        let stage = std::mem::take(stage);
        if !stage.words.is_empty() {
            pipeline.stages.push(stage);
        }
    };
    while let Some(token) = tokens.next() {
        let operator = match token {
            Token::Word(word) => {
                stage.words.push(word);
                continue;
            }
            Token::Operator(operator) => operator,
        };
        match operator.as_str() {
            "|" | "|&" => end_stage(&mut pipeline, &mut stage),
            "<" | "<<" | "<<-" | "<<<" | ">" | ">>" | "&>" | "&>>" | ">|" | "2>" | "2>>" => {
                let target = match tokens.next() {
                    Some(Token::Word(word)) => word,
                    _ => String::new(),
                };
                match operator.as_str() {
                    "<<<" => stage.here = Some(target),
                    "<" | "<<" | "<<-" => stage.input = true,
                    "2>" | "2>>" => {}
                    _ => stage.output.push(target),
                }
            }
            // 2>&1 and the like lead nowhere new.
            ">&" | "<&" => drop(tokens.next()),
            _ => {
                end_stage(&mut pipeline, &mut stage);
                pipeline.background = operator == "&";
                if !pipeline.stages.is_empty() {
                    pipelines.push(std::mem::take(&mut pipeline));
                }
                pipeline = Pipeline::default();
            }
        }
    }
    end_stage(&mut pipeline, &mut stage);
    if !pipeline.stages.is_empty() {
        pipelines.push(pipeline);
    }
    pipelines
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars().peekable();
    // Parentheses that are open within a word: $(...), which is the word's whatever stands in it.
    let mut depth = 0;
    let mut here = false;
    while let Some(c) = rest.next() {
        let inner = depth > 0;
        match c {
            '\\' => word.get_or_insert_default().extend(rest.next()),
            '\'' => {
                let quoted: String = rest.by_ref().take_while(|&c| c != '\'').collect();
                word.get_or_insert_default().push_str(&quoted);
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = rest.next().filter(|&c| c != '"') {
                    word.push(c);
                    if c == '\\' {
                        word.extend(rest.next());
                    }
                }
            }
            '$' if rest.peek() == Some(&'(') => {
                depth += 1;
                rest.next();
                word.get_or_insert_default().push_str("$(");
            }
            '(' if inner => depth += 1,
            ')' if inner => depth -= 1,
            _ if inner => word.get_or_insert_default().push(c),
            '#' if word.is_none() => {
                while rest.peek().is_some_and(|&c| c != '\n') {
                    rest.next();
                }
            }
            ' ' | '\t' => tokens.extend(word.take().map(Token::Word)),
            '\n' if here => break,
            '|' | '&' | ';' | '<' | '>' | '\n' => {
                let mut operator = String::new();
                // The 2 of 2> is no word.
                if c == '>' && word.as_deref() == Some("2") {
                    operator.push('2');
                    word = None;
                } else if c == '>' && word.as_deref() == Some("1") {
                    word = None;
                }
                tokens.extend(word.take().map(Token::Word));
                operator.push(c);
                while let Some(next) = rest.peek().copied() {
                    let known = [
                        "||", "&&", "|&", ";;", "<<", "<<<", "<<-", ">>", ">&", ">|", "<&", "&>",
                        "&>>", "2>>",
                    ];
                    let longer = format!("{operator}{next}");
                    // 2>&1 is a redirection to where another goes.
                    if longer == "2>&" {
                        operator = ">&".into();
                        rest.next();
                        break;
                    }
                    if !known.contains(&longer.as_str()) {
                        break;
                    }
                    operator = longer;
                    rest.next();
                }
                here |= operator.starts_with("<<") && operator != "<<<";
                tokens.push(Token::Operator(operator));
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pipelines as text: stages by "|", output by ">", background by "&".
    fn check(line: &str, want: &[&str]) {
        let stage = |stage: &Stage| {
            let mut text = stage.command().join(" ");
            stage
                .output
                .iter()
                .for_each(|file| text.push_str(&format!(" >{file}")));
            if let Some(here) = &stage.here {
                text.push_str(&format!(" <<<{here}"));
            }
            text
        };
        let pipeline = |pipeline: &Pipeline| {
            let stages: Vec<String> = pipeline.stages.iter().map(stage).collect();
            stages.join("|") + if pipeline.background { "&" } else { "" }
        };
        let told: Vec<String> = parse(line).iter().map(pipeline).collect();
        assert_eq!(told, want, "{line}");
    }

    #[test]
    fn lines() {
        check("make 2>&1 | tail -20", &["make|tail -20"]);
        check(
            "make -j4 > log 2>&1; tail log",
            &["make -j4 >log", "tail log"],
        );
        check(
            "make &> log && echo ok || echo no",
            &["make >log", "echo ok", "echo no"],
        );
        check(
            "nohup make >/dev/null 2>/dev/null &",
            &["nohup make >/dev/null&"],
        );
        check("CC=gcc sudo make|&tee -a log", &["make|tee -a log"]);
        check(
            "echo 'a | b > c; d' \"e & f\" g\\|h",
            &["echo a | b > c; d e & f g|h"],
        );
        check(
            "echo $(ls | head -1; sleep 5) x",
            &["echo $(ls | head -1; sleep 5 x"],
        );
        check("while true; do sleep 5; done", &["true", "sleep 5", "done"]);
        check("cat <<E | wc -l\nmake | tail\nE", &["cat|wc -l"]);
        check("install.sh <<< yes", &["install.sh <<<yes"]);
        check("true # make | tail", &["true"]);
        check("", &[]);
        check("| ; & > ", &[]);
        check("'open | quote", &["open | quote"]);
    }

    #[test]
    fn programs() {
        let of = |line: &str| parse(line)[0].stages[0].program().to_string();
        assert_eq!(of("A=1 time ./bin/make all"), "make");
        assert_eq!(of("if ! /usr/bin/gdb x"), "gdb");
        assert_eq!(of("A=1"), "");
    }

    #[test]
    fn any_text_is_read() {
        // xorshift; the seed is fixed, so a failure comes again.
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let alphabet: Vec<char> = "a2 |&;<>()$'\"\\#\n=".chars().collect();
        for _ in 0..20_000 {
            let line: String = (0..24)
                .map(|_| {
                    seed ^= seed << 13;
                    seed ^= seed >> 7;
                    seed ^= seed << 17;
                    alphabet[(seed % alphabet.len() as u64) as usize]
                })
                .collect();
            parse(&line);
        }
    }
}
