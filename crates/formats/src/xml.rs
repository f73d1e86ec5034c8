//! XML as the foreign formats use it: elements with attributes, no text between them. Comments are skipped.

use std::fmt::Display;
use std::str::FromStr;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use collsynth_verify::json::{FormatCode, ParseError};

/// What may stand at a depth: elements of this name, with these attributes.
pub(super) struct Level {
    pub(super) name: &'static str,
    pub(super) attributes: &'static [&'static str],
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: &'static str,
    pub(super) children: Vec<Self>,
    attributes: Vec<(&'static str, Box<str>)>,
    /// Byte offset in the text.
    pub(super) at: usize,
}

/// An error at a byte offset.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) code: FormatCode,
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(code: FormatCode, at: usize, message: impl Display) -> Self {
        Self { code, at, message: message.to_string() }
    }

    pub(super) fn into_error(self, text: &str) -> ParseError {
        ParseError::new(self.code, places(text, &[self.at])[0], &self.message)
    }
}

/// Line and column, both from 1, of byte offsets in any order. O(text + offsets * log(offsets)).
pub(super) fn places(text: &str, offsets: &[usize]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_unstable_by_key(|&index| offsets[index]);
    let mut places = vec![(1, 1); offsets.len()];
    let (mut at, mut place) = (0, (1, 1));
    for index in order {
        let within = offsets[index].min(text.len());
        let end = (at..=within).rfind(|&end| text.is_char_boundary(end)).unwrap_or(at);
        for letter in text[at..end].chars() {
            place = if letter == '\n' { (place.0 + 1, 1) } else { (place.0, place.1 + 1) };
        }
        (at, places[index]) = (end, place);
    }
    places
}

/// Reads a text that consists of one element. `levels` has what may stand at each depth, the element's own first;
/// everything else is refused where it begins, so depth and memory are bounded by what the format knows.
pub(super) fn parse(text: &str, levels: &[Level]) -> Result<Element, Fault> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    loop {
        let at = reader.buffer_position() as usize;
        let event = reader.read_event();
        let event = event.map_err(|error| Fault::new(FormatCode::F001, reader.error_position() as usize, error))?;
        let closed = match event {
            Event::Start(_) | Event::Empty(_) if open.is_empty() && root.is_some() => {
                return Err(Fault::new(FormatCode::F001, at, "a second element, but the file must be one"));
            }
            Event::Start(start) => {
                let one = element(&start, at, levels, &open)?;
                open.push(one);
                continue;
            }
            Event::Empty(start) => Some(element(&start, at, levels, &open)?),
            Event::End(_) => open.pop(),
            Event::Text(text) if text.trim().is_empty() => continue,
            Event::Comment(_) | Event::Decl(_) => continue,
            Event::Eof => break,
            _ => return Err(Fault::new(FormatCode::F001, at, "only elements and comments are allowed here")),
        };
        match open.last_mut() {
            Some(parent) => parent.children.extend(closed),
            None => root = closed,
        }
    }
    match root {
        _ if !open.is_empty() => Err(Fault::new(FormatCode::F001, text.len(), "an element is not closed")),
        Some(root) => Ok(root),
        None => Err(Fault::new(FormatCode::F001, 0, "the file is not one XML element")),
    }
}

/// The element that begins inside the open ones.
fn element(start: &BytesStart<'_>, at: usize, levels: &[Level], open: &[Element]) -> Result<Element, Fault> {
    let found = start.name();
    let found: &str = found.as_ref();
    let level = match (levels.get(open.len()), open.last()) {
        (Some(level), _) if level.name == found => level,
        (Some(level), None) => {
            let message = format!("the file is a <{found}>: expected <{}>", level.name);
            return Err(Fault::new(FormatCode::F004, at, message));
        }
        (Some(level), Some(parent)) => {
            let message = format!("<{found}> in <{}>, where only <{}> is allowed", parent.name, level.name);
            return Err(Fault::new(FormatCode::F002, at, message));
        }
        (None, parent) => {
            let parent = parent.map_or("", |parent| parent.name);
            return Err(Fault::new(FormatCode::F002, at, format!("<{found}> in <{parent}>, where nothing is allowed")));
        }
    };
    let fault = |error: &dyn Display| Fault::new(FormatCode::F001, at, error);
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| fault(&error))?;
        let key: &str = attribute.key.as_ref();
        let Some(key) = level.attributes.iter().find(|known| **known == key) else {
            let message = format!("<{}> has an unknown attribute `{key}`", level.name);
            return Err(Fault::new(FormatCode::F002, at, message));
        };
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| fault(&error))?;
        attributes.push((*key, value.into()));
    }
    Ok(Element { name: level.name, children: Vec::new(), attributes, at })
}

impl Element {
    pub(super) fn fault(&self, code: FormatCode, message: impl Display) -> Fault {
        Fault::new(code, self.at, message)
    }

    /// A fault `F003`: a value that cannot be.
    pub(super) fn wrong(&self, message: impl Display) -> Fault {
        self.fault(FormatCode::F003, message)
    }

    /// The value of an attribute, if present.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| *name == key).map(|(_, value)| &**value)
    }

    /// The value of a required attribute.
    pub(super) fn value<T: FromStr>(&self, key: &str) -> Result<T, Fault> {
        let missing = || self.fault(FormatCode::F002, format!("<{}> has no attribute `{key}`", self.name));
        let text = self.text(key).ok_or_else(missing)?;
        text.parse().map_err(|_| self.wrong(format!("`{key}` of <{}> is \"{text}\", no such number", self.name)))
    }

    /// The value of an attribute that may be left out.
    pub(super) fn optional<T: FromStr>(&self, key: &str) -> Result<Option<T>, Fault> {
        self.text(key).map(|_| self.value(key)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn places_are_found_in_any_order() {
        let text = "a\näöü\n\nb";
        let last = text.len();
        let found = [(4, 1), (1, 1), (2, 3), (2, 2), (2, 2), (4, 2), (3, 1)];
        assert_eq!(places(text, &[last - 1, 0, 6, 4, 5, last + 9, 9]), found);
    }
}
