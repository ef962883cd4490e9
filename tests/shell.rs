//! The shell integration in real shells on real terminals: the behaviours of a shell, one test for each shell that
//! has it. `cargo test --test main shell::table -- --ignored --nocapture` prints them as a table with each result.

mod bash;
mod bash_user;
mod cli;
mod common;
#[path = "../src/place/files.rs"]
mod files;
mod fish;
mod frameworks;
mod harness;
mod marks;
mod nested;
mod places;
mod screen;
mod zsh;

use crate::util::skip::have;
use files::Shell;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Test = fn(Shell);

impl Shell {
    fn program(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
        }
    }
}

/// Declares the behaviours: for each its number, what it is, and the function that checks it for each shell.
macro_rules! behaviours {
    ($($number:literal $name:literal { $($shell:ident $test:ident = $function:path;)+ })+) => {
        $($(
            #[test]
            fn $test() {
                if have(stringify!($test), Shell::$shell.program()) {
                    $function(Shell::$shell);
                }
            }
        )+)+

        const TABLE: &[(u32, &str, &[(Shell, Test)])] = &[
            $(($number, $name, &[$((Shell::$shell, $function)),+]),)+
        ];
    };
}

behaviours! {
    1 "first prompt" {
        Bash b01 = common::first_prompt;
        Zsh z01 = common::first_prompt;
        Fish f01 = common::first_prompt;
    }
    2 "simple command" {
        Bash b02 = common::simple;
        Zsh z02 = common::simple;
        Fish f02 = common::simple;
    }
    3 "failure" {
        Bash b03 = common::failure;
        Zsh z03 = common::failure;
        Fish f03 = common::failure;
    }
    4 "pipeline" {
        Bash b04 = common::pipeline;
        Zsh z04 = common::pipeline;
        Fish f04 = common::pipeline;
    }
    5 "pipefail" {
        Bash b05 = common::pipefail;
        Zsh z05 = common::pipefail;
    }
    6 "negation" {
        Bash b06 = common::negation;
        Zsh z06 = common::negation;
        Fish f06 = common::negation;
    }
    7 "empty Enter" {
        Bash b07 = common::empty;
        Zsh z07 = common::empty;
        Fish f07 = common::empty;
    }
    8 "spaces, a comment" {
        Bash b08 = common::comment;
        Zsh z08 = common::comment;
        Fish f08 = common::comment;
    }
    9 "Ctrl-C at the prompt" {
        Bash b09 = common::interrupt_prompt;
        Zsh z09 = common::interrupt_prompt;
        Fish f09 = common::interrupt_prompt;
    }
    10 "Ctrl-C running" {
        Bash b10 = common::interrupt_running;
        Zsh z10 = common::interrupt_running;
        Fish f10 = common::interrupt_running;
    }
    11 "syntax error" {
        Bash b11 = common::syntax_error;
        Zsh z11 = common::syntax_error;
        Fish f11 = common::syntax_error;
    }
    12 "continuation prompt" {
        Bash b12 = common::continuation;
        Zsh z12 = common::continuation;
        Fish f12 = fish::continuation;
    }
    13 "Ctrl-C at a continuation prompt" {
        Bash b13 = common::interrupt_continuation;
        Zsh z13 = common::interrupt_continuation;
    }
    14 "heredoc" {
        Bash b14 = common::heredoc;
        Zsh z14 = common::heredoc;
    }
    15 "bracketed paste of two lines" {
        Bash b15 = common::paste;
        Zsh z15 = common::paste;
        Fish f15 = common::paste;
    }
    16 "no trailing newline" {
        Bash b16 = common::no_newline;
        Zsh z16 = common::no_newline;
        Fish f16 = common::no_newline;
    }
    17 "background job" {
        Bash b17 = common::background;
        Zsh z17 = common::background;
        Fish f17 = common::background;
    }
    18 "job done while idle" {
        Zsh z18 = zsh::idle_notice;
        Fish f18 = fish::idle_notice;
    }
    19 "Ctrl-Z" {
        Bash b19 = common::stop;
        Zsh z19 = common::stop;
        Fish f19 = common::stop;
    }
    20 "fg, Ctrl-C" {
        Bash b20 = common::foreground;
        Zsh z20 = common::foreground;
        Fish f20 = common::foreground;
    }
    21 "signal" {
        Bash b21 = common::signal;
        Zsh z21 = common::signal;
        Fish f21 = common::signal;
    }
    22 "not found" {
        Bash b22 = common::not_found;
        Zsh z22 = common::not_found;
        Fish f22 = common::not_found;
    }
    23 "subshell" {
        Bash b23 = common::subshell;
        Zsh z23 = common::subshell;
        Fish f23 = common::subshell;
    }
    24 "set -e" {
        Bash b24 = bash::errexit;
        Zsh z24 = zsh::options;
    }
    25 "set -u" {
        Bash b25 = bash::nounset;
    }
    26 "set -x" {
        Bash b26 = bash::xtrace;
    }
    27 "promptvars off" {
        Bash b27 = bash::promptvars;
    }
    28 "posix mode" {
        Bash b28 = bash::posix;
    }
    29 "user's DEBUG trap" {
        Bash b29 = bash::debug_trap;
    }
    30 "prompt commands see the status" {
        Bash b30 = bash::prompt_command;
        Zsh z30 = zsh::prompt_functions;
    }
    31 "PROMPT_COMMAND array" {
        Bash b31 = bash::prompt_command_array;
    }
    32 "PROMPT_COMMAND replaced" {
        Bash b32 = bash::prompt_command_replaced;
    }
    33 "PS1 rebuilt each prompt" {
        Bash b33 = bash::prompt_rebuilt;
        Zsh z33 = zsh::prompt_rebuilt;
        Fish f33 = fish::prompt_rebuilt;
    }
    34 "PS1 with a newline in $( )" {
        Bash b34 = bash::prompt_substitution;
    }
    35 "multi-line prompt, resized" {
        Bash b35 = screen::resize;
        Zsh z35 = screen::resize;
        Fish f35 = screen::resize;
    }
    36 "Ctrl-L, vi mode, Ctrl-R, Tab" {
        Bash b36 = bash::editing;
        Zsh z36 = zsh::editing;
        Fish f36 = fish::editing;
    }
    37 "bind -x that prints" {
        Bash b37 = bash::bound_command;
    }
    38 "Ctrl-X Ctrl-E" {
        Bash b38 = bash::edit_and_execute;
    }
    39 "long line, edited" {
        Bash b39 = screen::long_line;
        Zsh z39 = screen::long_line;
        Fish f39 = screen::long_line;
    }
    40 "venv" {
        Bash b40 = common::venv;
        Zsh z40 = common::venv;
        Fish f40 = fish::venv;
    }
    41 "exported PS1, dash, busybox" {
        Bash b41 = bash::exported_prompt;
        Zsh z41 = zsh::exported_prompt;
    }
    42 "nested shell" {
        Bash b42 = bash::nested;
        Zsh z42 = zsh::nested;
        Fish f42 = fish::nested;
    }
    43 "nested through sh" {
        Bash b43 = bash::nested_through_sh;
    }
    44 "bash --norc" {
        Bash b44 = bash::norc;
    }
    45 "exec" {
        Bash b45 = bash::exec;
        Zsh z45 = zsh::exec;
        Fish f45 = fish::exec;
    }
    46 "own pty" {
        Bash b46 = places::own_pty;
        Zsh z46 = places::own_pty;
        Fish f46 = places::own_pty;
    }
    47 "env -i, su -, sudo -i" {
        Bash b47 = places::stripped;
        Zsh z47 = places::stripped;
        Fish f47 = places::stripped;
    }
    48 "sudo -E" {
        Bash b48 = places::sudo;
        Zsh z48 = places::sudo;
        Fish f48 = places::sudo;
    }
    49 "foreign markers" {
        Bash b49 = places::foreign;
        Zsh z49 = places::foreign;
        Fish f49 = places::foreign;
    }
    50 "exec >file" {
        Bash b50 = common::redirected;
        Zsh z50 = common::redirected;
    }
    51 "clear, reset, vim" {
        Bash b51 = common::screen_programs;
        Zsh z51 = common::screen_programs;
        Fish f51 = common::screen_programs;
    }
    52 "type-ahead" {
        Bash b52 = common::type_ahead;
        Zsh z52 = common::type_ahead;
        Fish f52 = common::type_ahead;
    }
    53 "history expansion" {
        Bash b53 = bash::history_expansion;
        Zsh z53 = zsh::history_expansion;
    }
    54 "RPROMPT" {
        Zsh z54 = zsh::right_prompt;
    }
    55 "powerlevel10k" {
        Zsh z55 = zsh::powerlevel;
    }
    56 "prompt_percent, ignore_eof, EOL mark" {
        Zsh z56 = zsh::percent_off;
    }
    57 "the user's files, HISTFILE, names" {
        Zsh z57 = zsh::same_files;
        Fish f57 = fish::same_names;
    }
    58 "vi mode, fish_prompt redefined" {
        Fish f58 = fish::vi_mode;
    }
    59 "exit at the top" {
        Bash b59 = common::exit;
        Zsh z59 = common::exit;
        Fish f59 = common::exit;
    }
    61 "a hostile rc file" {
        Bash b61 = bash_user::hostile;
    }
    62 "readonly variables" {
        Bash b62 = bash_user::readonly;
    }
    63 "bash-preexec" {
        Bash b63 = bash_user::preexec;
    }
    64 "starship" {
        Bash b64 = bash_user::starship;
    }
    65 "direnv" {
        Bash b65 = bash_user::direnv;
    }
    66 "prompt command interrupted" {
        Bash b66 = bash_user::interrupted;
    }
    67 "PS1 edited live" {
        Bash b67 = bash::prompt_edited;
    }
    68 "no traces" {
        Bash b68 = bash::no_traces;
    }
    69 "no process per prompt" {
        Bash b69 = places::no_forks;
        Zsh z69 = places::no_forks;
        Fish f69 = places::no_forks;
    }
    70 "inside bwrap" {
        Bash b70 = places::bwrap;
        Zsh z70 = places::bwrap;
        Fish f70 = places::bwrap;
    }
    71 "stderr elsewhere" {
        Bash b71 = bash::stderr_elsewhere;
    }
    73 "nested, without the files" {
        Bash b73 = bash::nested_without_files;
    }
    74 "logout file" {
        Bash b74 = bash::logout;
    }
    75 "every kind below every kind" {
        Bash b75 = nested::every_kind;
        Zsh z75 = nested::every_kind;
        Fish f75 = nested::every_kind;
    }
    76 "variables of shells below" {
        Bash b76 = nested::own_variables;
        Zsh z76 = nested::own_variables;
        Fish f76 = nested::own_variables;
    }
    77 "loaded twice" {
        Bash b77 = nested::loaded_twice;
        Zsh z77 = nested::loaded_twice;
        Fish f77 = nested::loaded_twice;
    }
    78 "exported under 2 KB" {
        Bash b78 = nested::exported_size;
        Zsh z78 = nested::exported_size;
        Fish f78 = nested::exported_size;
    }
    79 "plain form" {
        Bash b79 = nested::plain;
        Zsh z79 = nested::plain;
        Fish f79 = nested::plain;
    }
    80 "unfinished control string" {
        Bash b80 = common::unfinished_string;
        Zsh z80 = common::unfinished_string;
        Fish f80 = common::unfinished_string;
    }
    81 "starship itself" {
        Bash b81 = frameworks::starship;
        Zsh z81 = frameworks::starship;
        Fish f81 = frameworks::starship;
    }
    82 "direnv itself" {
        Bash b82 = frameworks::direnv;
        Zsh z82 = frameworks::direnv;
        Fish f82 = frameworks::direnv;
    }
    83 "venv itself" {
        Bash b83 = frameworks::venv;
        Zsh z83 = frameworks::venv;
        Fish f83 = frameworks::venv;
    }
    84 "liquidprompt" {
        Bash b84 = frameworks::liquidprompt;
        Zsh z84 = frameworks::liquidprompt;
    }
    85 "powerlevel9k" {
        Zsh z85 = frameworks::powerlevel9k;
    }
    86 "a person's day, cell by cell" {
        Bash b86 = screen::person;
        Zsh z86 = screen::person;
        Fish f86 = screen::person;
    }
    87 "history and files" {
        Bash b87 = common::history;
        Zsh z87 = common::history;
        Fish f87 = common::history;
    }
    72 "nonce unset" {
        Bash b72 = places::no_nonce;
        Zsh z72 = places::no_nonce;
        Fish f72 = places::no_nonce;
    }
}

/// Runs every behaviour and prints the table.
#[test]
#[ignore = "the same checks again, for their table"]
fn table() {
    let mut failed = 0;
    for (number, name, tests) in TABLE {
        let mut row = format!("{number:>2} {name:<34}");
        for (shell, test) in *tests {
            let here = have("table", shell.program());
            let done = !here || catch_unwind(AssertUnwindSafe(|| test(*shell))).is_ok();
            failed += u32::from(!done);
            let result = if !here {
                "skip"
            } else if done {
                "ok"
            } else {
                "FAILED"
            };
            row += &format!(" {}: {result:<7}", shell.program());
        }
        println!("{row}");
    }
    assert_eq!(failed, 0);
}
