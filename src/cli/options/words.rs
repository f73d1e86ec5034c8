//! Lists of words in messages.

/// `--a, --b or --c`
pub fn listed(names: &[&str], before: &str, last: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{before}{name}")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., end] => format!("{} {last} {end}", some.join(", ")),
    }
}
