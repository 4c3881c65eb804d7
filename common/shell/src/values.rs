//! The values of the file as clap reads them.

use std::error::Error;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use toml::Value;

/// What all environment variables of jlpns begin with.
const PREFIX: &str = "JLPNS_";

/// Flags that give an order, which is typed each time: it is no setting.
const ORDERS: [&str; 4] = ["cancel_all", "drain", "kick", "reinstate"];

/// The key of a flag in the configuration file: its long name. An argument without a flag has one if it has an
/// environment variable. What asks for help, names the file or gives an order has none.
pub fn key_of(arg: &Arg) -> Option<String> {
    use ArgAction::{Help, HelpLong, HelpShort, Version};
    let id = arg.get_id().as_str();
    if matches!(arg.get_action(), Help | HelpLong | HelpShort | Version)
        || id == "config"
        || ORDERS.contains(&id)
    {
        return None;
    }
    arg.get_long().map(str::to_owned).or_else(|| {
        let variable = arg.get_env()?.to_str()?.strip_prefix(PREFIX)?;
        Some(variable.to_lowercase().replace('_', "-"))
    })
}

/// Whether the flag is there or not, without a value.
pub fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// The values of a key as they would be typed, each one that the flag takes; or why not.
pub fn typed(arg: &Arg, value: &Value) -> Result<Vec<String>, String> {
    match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Boolean(is_on)) => Ok(vec![is_on.to_string()]),
        (ArgAction::SetTrue, _) => Err("write true or false".to_owned()),
        (ArgAction::Count, Value::Integer(times @ 0..=9)) => Ok(vec![times.to_string()]),
        (ArgAction::Count, _) => Err("write how often, from 0 to 9".to_owned()),
        (ArgAction::Append, Value::Array(all)) => {
            all.iter().map(|value| parsed(arg, scalar(value)?)).collect()
        }
        (_, Value::Array(_)) => Err("write one value, not a list".to_owned()),
        (_, value) => Ok(vec![parsed(arg, scalar(value)?)?]),
    }
}

/// A value as text, as it is shown in sentences about it.
pub fn shown(value: &Value) -> String {
    let text = scalar(value).unwrap_or_else(|_| value.to_string());
    let short: String = text.chars().take(60).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    short + dots
}

fn scalar(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Boolean(is_so) => Ok(is_so.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => {
            Err("write a text in quotation marks, a number, or true or false".to_owned())
        }
    }
}

/// The text, if the flag's own parser takes it.
fn parsed(arg: &Arg, text: String) -> Result<String, String> {
    let alone = Arg::new("value")
        .long("value")
        .num_args(1)
        .action(ArgAction::Append)
        .allow_hyphen_values(true)
        .value_parser(arg.get_value_parser().clone());
    let parts = match arg.get_value_delimiter() {
        Some(delimiter) => text.split(delimiter).collect(),
        None => vec![text.as_str()],
    };
    let words = parts.iter().map(|part| format!("--value={part}"));
    let command = Command::new("value").no_binary_name(true).arg(alone);
    match command.try_get_matches_from(words) {
        Ok(_) => Ok(text),
        Err(error) => Err(reason(&error)),
    }
}

/// Why a value is refused, without its flag's name.
fn reason(error: &clap::Error) -> String {
    if let Some(reason) = error.source() {
        return reason.to_string();
    }
    match (error.kind(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(all))) if !all.is_empty() => {
            format!("write one of {}", all.join(", "))
        }
        (ErrorKind::InvalidValue, _) => "a value is required".to_owned(),
        _ => "it cannot be read".to_owned(),
    }
}
