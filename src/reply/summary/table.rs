//! The recognisers of `summary`: data only. One sample of each tool's output is in tests/data/summaries.

use super::Recogniser;
use super::Rule::{After, Detail, Failure, Last, PassOver};

/// In no particular order: a line counts for the first rule that matches it.
pub(super) const TABLE: &[Recogniser] = &[
    Recogniser {
        tool: "pytest",
        sign: None,
        rules: &[
            Failure(r"^(FAILED|ERROR) \S+(::|\.py)"),
            Last(r"^=+ .*\b(failed|errors?|passed|no tests ran)\b.* in \d+\.\d+s.*=+$"),
            Detail(r"^E   +\S"),
        ],
    },
    Recogniser {
        tool: "unittest",
        sign: None,
        rules: &[
            Failure(r"^(FAIL|ERROR): \w+ \(\S+\)"),
            Last(r"^FAILED \((failures|errors|unexpected successes)="),
        ],
    },
    Recogniser {
        tool: "Python",
        sign: None,
        rules: &[After(
            r"^\s*Traceback \(most recent call last\):",
            r"^\s{0,4}[A-Za-z_][\w.]*(: |$)",
        )],
    },
    Recogniser {
        tool: "cargo test",
        sign: None,
        rules: &[
            Failure(r"^test .* \.\.\. FAILED$"),
            Last(r"^test result: FAILED"),
        ],
    },
    Recogniser {
        tool: "nextest",
        sign: None,
        rules: &[
            Failure(r"^ +(FAIL|TIMEOUT|SIG[A-Z]+|ABORT|LEAK-FAIL) \[ *[\d.]+s\] "),
            Last(r"^ +Summary \[ *[\d.]+s\] "),
        ],
    },
    Recogniser {
        tool: "rustc",
        sign: None,
        rules: &[
            Last(r"^error: (could not compile|test failed|test run failed|aborting due to)"),
            Failure(r"^error(\[E\d{4}\])?: "),
            After(r"^error(\[E\d{4}\])?: ", r"^ *--> "),
        ],
    },
    Recogniser {
        tool: "Rust",
        sign: None,
        rules: &[
            Failure(r"^thread '.*' .*panicked at "),
            After(r"^thread '.*' .*panicked at ", r"\S"),
        ],
    },
    Recogniser {
        tool: "go test",
        sign: None,
        rules: &[
            Failure(r"^ *--- FAIL: "),
            Last(r"^FAIL\t\S"),
            Detail(r"^\s+\w+_test\.go:\d+: "),
        ],
    },
    Recogniser {
        tool: "go",
        sign: None,
        rules: &[
            Failure(r"^\S+\.go:\d+:\d+: "),
            Failure(r"^(panic|fatal error): "),
        ],
    },
    Recogniser {
        tool: "ctest",
        sign: Some(r"^\d+% tests passed"),
        rules: &[
            Failure(
                r"^\s+\d+ - .+ \((Failed|Timeout|SEGFAULT|ILLEGAL|NUMERICAL|OTHER_FAULT|Not Run|Subprocess aborted|BAD_COMMAND)\)",
            ),
            Last(r"^\d+% tests passed, [1-9]\d* tests? failed out of "),
        ],
    },
    Recogniser {
        tool: "TAP",
        sign: None,
        rules: &[
            Last(r"^# (Looks like you|fail [1-9])"),
            Detail(r"^# {2,}(Failed test|got:|expected:)"),
            PassOver(r"^\s*not ok .*# (TODO|SKIP)"),
            Failure(r"^\s*not ok\b"),
        ],
    },
    Recogniser {
        tool: "prove",
        sign: Some(r"^Result: "),
        rules: &[
            Failure(r"^\S.*\(Wstat: .* Failed: [1-9]"),
            Failure(r"^  (Failed test|Parse error)"),
            Last(r"^Result: FAIL"),
        ],
    },
    Recogniser {
        tool: "DejaGnu",
        sign: None,
        rules: &[
            Failure(r"^(FAIL|UNRESOLVED|XPASS|KPASS): \S"),
            Last(r"^# of (unexpected (failures|successes)|unresolved testcases)\s"),
        ],
    },
    Recogniser {
        tool: "jest",
        sign: Some(r"^Test Suites: "),
        rules: &[
            Failure(r"^\s+● .*\S"),
            Failure(r"^FAIL \S"),
            Last(r"^Tests: .*failed"),
            Detail(r"^\s+(Expected|Received): "),
        ],
    },
    Recogniser {
        tool: "vitest",
        sign: Some(r"^ Test Files "),
        rules: &[
            Failure(r"^ FAIL  \S"),
            Last(r"^ (Test Files|     Tests)  .*failed"),
            Detail(r"^\w*Error: "),
        ],
    },
    Recogniser {
        tool: "mocha",
        sign: Some(r"^  \d+ failing$"),
        rules: &[
            Failure(r"^    +\d+\) \S"),
            Last(r"^  \d+ failing$"),
            Detail(r"^ +\w*Error( \[\w+\])?: "),
        ],
    },
    Recogniser {
        tool: "node:test",
        sign: Some(r"^ℹ tests \d"),
        rules: &[
            PassOver(r"^✖ failing tests:$"),
            Failure(r"^\s*✖ \S"),
            Last(r"^ℹ fail [1-9]"),
            Detail(r"^ +\w*Error( \[\w+\])?: "),
        ],
    },
    Recogniser {
        tool: "Node.js",
        sign: Some(r"^Node\.js v\d"),
        rules: &[Failure(r"^(Uncaught )?\w*Error( \[\w+\])?: ")],
    },
    Recogniser {
        tool: "RSpec",
        sign: Some(r"^\d+ examples?, "),
        rules: &[
            Failure(r"^rspec \S+ # "),
            Last(r"^\d+ examples?, [1-9]\d* failures?"),
            Detail(r"^ +Failure/Error: "),
        ],
    },
    Recogniser {
        tool: "Maven",
        sign: None,
        rules: &[
            Last(r"^\[ERROR\] Tests run: .*Skipped: \d+$"),
            Last(r"^\[INFO\] BUILD FAILURE"),
            Failure(r"^\[ERROR\] +\S+\.\S+:\d+"),
            Failure(r"^\[ERROR\] \S+\.java:\[\d+,\d+\]"),
            Failure(r"^\[ERROR\] .*Time elapsed: .*<<< (FAILURE|ERROR)!$"),
            Last(r"^\[ERROR\] Failed to execute goal "),
        ],
    },
    Recogniser {
        tool: "Gradle",
        sign: None,
        rules: &[
            Failure(r"^\S.* > .* FAILED$"),
            Last(r"^\d+ tests? completed, [1-9]\d* failed"),
            Failure(r"^Execution failed for task "),
            Last(r"^BUILD FAILED in "),
        ],
    },
    Recogniser {
        tool: "C, C++, Java compilers",
        sign: None,
        rules: &[
            Failure(r"^\S[^:]*:\d+(:\d+)?: (fatal )?error: "),
            Last(r"^(\d+ warnings? and )?\d+ errors?( generated\.)?$"),
        ],
    },
    Recogniser {
        tool: "ghc",
        sign: None,
        rules: &[
            Failure(r"^\S+\.l?hs:\d+:\d+: error"),
            After(r"^\S+\.l?hs:\d+:\d+: error", r"\S"),
        ],
    },
    Recogniser {
        tool: "tsc",
        sign: None,
        rules: &[
            Failure(r"^\S+\(\d+,\d+\): error TS\d+: "),
            Failure(r"^\S+:\d+:\d+ - error TS\d+: "),
            Last(r"^Found [1-9]\d* errors?\b"),
        ],
    },
    Recogniser {
        tool: "MSVC",
        sign: None,
        rules: &[
            Failure(r"^\s*\S.*\(\d+(,\d+)?\) ?: (fatal )?error [A-Z]+\d+: "),
            Failure(r" : (fatal )?error LNK\d+: "),
        ],
    },
    Recogniser {
        tool: "linkers",
        sign: None,
        rules: &[
            Failure(r"(undefined reference to|multiple definition of) "),
            Failure(r"^(\S*/)?(ld|ld\.\w+|rust-lld|mold): (error: |cannot find )"),
            Failure(r"^Undefined symbols for architecture "),
            Last(r"^(collect2|clang(\+\+)?(-\d+)?): error: "),
        ],
    },
    Recogniser {
        tool: "make",
        sign: None,
        rules: &[Last(r"^\S*make(\[\d+\])?: \*\*\* ")],
    },
    Recogniser {
        tool: "ninja",
        sign: None,
        rules: &[
            Failure(r"^FAILED: \S"),
            Last(r"^ninja: (build stopped|error|fatal): "),
        ],
    },
    Recogniser {
        tool: "CMake",
        sign: None,
        rules: &[
            Failure(r"^CMake Error"),
            After(r"^CMake Error", r"\S"),
            Last(r"^-- Configuring incomplete, errors occurred"),
        ],
    },
    Recogniser {
        tool: "npm",
        sign: None,
        rules: &[
            PassOver(r"^npm (ERR!|error) (A complete log|To see| )"),
            Failure(r"^npm (ERR!|error) \S"),
        ],
    },
    Recogniser {
        tool: "pip",
        sign: None,
        rules: &[Failure(
            r"^(ERROR: [A-Z]|error: subprocess-exited-with-error|× )",
        )],
    },
    Recogniser {
        tool: "crashes",
        sign: None,
        rules: &[
            Failure(
                r"^(\S+: line \d+: +\d+ )?(Segmentation fault|Aborted|Killed|Bus error|Illegal instruction|Floating point exception)\b",
            ),
            Failure(r"\(core dumped\)"),
        ],
    },
    Recogniser {
        tool: "git",
        sign: None,
        rules: &[Failure(r"^fatal: ")],
    },
];
