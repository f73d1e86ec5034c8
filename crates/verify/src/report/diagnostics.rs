//! Verdicts for tools that show findings beside the lines of files: SARIF 2.1.0 (OASIS), for code hosts and editors,
//! and GitHub's workflow commands. Both are derived from the JSON verdicts, so they contain the same.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::explain::explanation;
use crate::guard::shown::shown;

/// A finding of a verdict.
struct Found<'a> {
    file: &'a str,
    /// `warning` or `error`.
    level: &'static str,
    code: &'a str,
    message: &'a str,
    line: Option<u64>,
    column: Option<u64>,
    excerpt: Option<&'a str>,
}

/// A SARIF log of verdicts, each as `synth verify --format json` has it.
pub fn sarif(files: &[Value]) -> Value {
    let found: Vec<Found<'_>> = files.iter().flat_map(found).collect();
    let codes: BTreeSet<&str> = found.iter().map(|one| one.code).filter(|code| !code.is_empty()).collect();
    let rules: Vec<Value> =
        codes.iter().map(|code| json!({"id": code, "shortDescription": {"text": title(code)}})).collect();
    let results: Vec<Value> = found.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "synth", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A path as a relative reference (RFC 3986): all but unreserved characters and `/` in percents.
fn uri(path: &str) -> String {
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn result(found: &Found<'_>) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(found.file)}});
    if let (Some(line), Some(column)) = (found.line, found.column) {
        place["region"] = json!({"startLine": line, "startColumn": column});
        if let Some(excerpt) = found.excerpt {
            place["region"]["snippet"] = json!({"text": excerpt});
        }
    }
    let mut result = json!({
        "level": found.level,
        "message": {"text": found.message},
        "locations": [{"physicalLocation": place}],
    });
    if !found.code.is_empty() {
        result["ruleId"] = found.code.into();
    }
    result
}

/// Workflow commands of GitHub, one line per finding.
pub fn github(files: &[Value]) -> String {
    let mut text = String::new();
    for one in files.iter().flat_map(found) {
        let _ = write!(text, "::{} file={}", one.level, escaped(one.file, true));
        if let (Some(line), Some(column)) = (one.line, one.column) {
            let _ = write!(text, ",line={line},col={column}");
        }
        if !one.code.is_empty() {
            let _ = write!(text, ",title={}", escaped(&format!("{} {}", one.code, title(one.code)), true));
        }
        let _ = writeln!(text, "::{}", escaped(one.message, false));
    }
    text
}

/// The escapes of GitHub's workflow commands.
fn escaped(text: &str, property: bool) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let text = shown(&text);
    if property { text.replace(':', "%3A").replace(',', "%2C") } else { text.into_owned() }
}

fn found(verdict: &Value) -> Vec<Found<'_>> {
    let file = verdict["file"].as_str().unwrap_or_default();
    let read = |value, level| read(file, value, level);
    if verdict["verdict"] == "unreadable" {
        return vec![read(verdict, "error")];
    }
    let list = |key: &str, level| verdict[key].as_array().into_iter().flatten().map(move |value| read(value, level));
    list("violations", "error").chain(list("warnings", "warning")).collect()
}

fn read<'a>(file: &'a str, value: &'a Value, level: &'static str) -> Found<'a> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    Found {
        file,
        level,
        code: text("code"),
        message: text("message"),
        line: number("line"),
        column: number("column"),
        excerpt: value.get("excerpt").and_then(Value::as_str),
    }
}

fn title(code: &str) -> &'static str {
    explanation(code).map_or("", |found| found.title)
}
