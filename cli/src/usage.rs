//! A command line that cannot be understood: refused like everything else, with a code, and with a result for scripts.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use dpone_engine::codes::Code;
use dpone_engine::refusal::Refusal;

use crate::args::LogFormat;
use crate::exit;
use crate::output;
use crate::report::{Known, refused_json};
use crate::stderr::Stderr;

/// What a command line asks for, as far as that can be told before it is understood.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) log_format: LogFormat,
    json: bool,
    run: bool,
}

impl Asked {
    /// Looks for the options that decide how errors are told.
    pub(crate) fn of(arguments: &[OsString]) -> Self {
        let words: Vec<&str> = arguments.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).collect();
        let says = |option: &str| {
            let apart = words.windows(2).any(|pair| pair[0] == option && pair[1] == "json");
            apart || words.iter().any(|word| word.strip_prefix(option) == Some("=json"))
        };
        Self {
            log_format: if says("--log-format") { LogFormat::Json } else { LogFormat::Text },
            json: says("--format"),
            run: words.contains(&"run"),
        }
    }

    /// Tells a script that asked for a run's JSON that nothing was run.
    pub(crate) fn tell(&self, refusal: &Refusal) {
        if self.json && self.run {
            let known = Known { published: Some(false), ..Known::default() };
            let told = refused_json(&known, std::slice::from_ref(refusal));
            // A reader that has gone away ends nothing.
            let _ = output::print(&serde_json::to_string_pretty(&told).unwrap_or_default());
        }
    }
}

/// Prints help if it was asked for; else refuses the command line.
pub(crate) fn refuse(error: &clap::Error, asked: &Asked) -> ExitCode {
    let kind = error.kind();
    if matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A reader that has gone away ends nothing.
        let _ = error.print();
        return exit::code(exit::DELIVERED);
    }
    let rendered = error.render().to_string();
    let code = Code::UsageInvalid;
    let said = rendered.strip_prefix("error: ").unwrap_or(&rendered);
    let message = match kind {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a command is missing",
        _ => said.lines().next().unwrap_or_default(),
    };
    asked.tell(&Refusal::new(code, message).fix("See `dpone run --help`."));
    let text = match kind {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => rendered.clone(),
        _ => format!("error[{code}]: {said}"),
    };
    let fields = [("message", message.into()), ("code", code.as_str().into()), ("usage", rendered.as_str().into())];
    Stderr::new(asked.log_format).error(&text, &fields);
    exit::code(exit::REFUSED)
}
