//! What kind of file a text is.

use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

/// Does the `format` of the outermost object begin like this? What comes after it is not read.
pub(super) fn states_format(text: &str, prefix: &str) -> bool {
    let mut probe = Probe { prefix, states: false };
    // An error says that the object goes on, or breaks off: whoever reads it all says where.
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(&mut probe);
    probe.states
}

struct Probe<'a> {
    prefix: &'a str,
    states: bool,
}

impl<'de> Visitor<'de> for &mut Probe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "format" {
                self.states = map.next_value::<String>()?.starts_with(self.prefix);
                break;
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::states_format;

    #[test]
    fn only_the_outermost_object_says_what_a_text_is() {
        let long = format!("{{\"{}\": 0, \"format\": \"rank-program/1\"}}", "a".repeat(1000));
        let escaped = r#"{"\u0066ormat": "rank-program/1"}"#;
        for is_program in [r#"{"format": "rank-program/1", "ranks": [oops"#, &long, escaped] {
            assert!(states_format(is_program, "rank-program/"), "{is_program}");
        }
        for other in [
            r#"{"topology": {"torus": [3], "names": ["format", "rank-program/1", "b"]}, "format": "collective-schedule/1"}"#,
            r#"{"collective": {"format": "rank-program/1"}}"#,
            r#"{"name": "\"format\": \"rank-program/1\""}"#,
            r#"{"format": 7, "next": "rank-program/1"}"#,
            r#"[{"format": "rank-program/1"}]"#,
            "",
        ] {
            assert!(!states_format(other, "rank-program/"), "{other}");
        }
    }
}
