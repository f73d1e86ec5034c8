//! XML as the foreign formats use it: elements with attributes, no text between them. Comments are skipped.

use std::fmt::Display;
use std::str::FromStr;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use collsynth_verify::json::{FormatCode, ParseError};

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) children: Vec<Element>,
    attributes: Vec<(String, String)>,
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
        let (line, column) = places(text, &[self.at])[0];
        ParseError { code: self.code, line, column, message: self.message }
    }
}

/// Line and column, both from 1, of byte offsets in any order. O(text + offsets * log(lines)).
pub(super) fn places(text: &str, offsets: &[usize]) -> Vec<(usize, usize)> {
    let mut lines = vec![0];
    lines.extend(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1));
    let place = |&at: &usize| {
        let end = (0..=at.min(text.len())).rfind(|&end| text.is_char_boundary(end)).unwrap_or(0);
        let line = lines.partition_point(|&start| start <= end);
        (line, text[lines[line - 1]..end].chars().count() + 1)
    };
    offsets.iter().map(place).collect()
}

/// Reads a text that consists of one element.
pub(super) fn parse(text: &str) -> Result<Element, Fault> {
    let mut reader = Reader::from_str(text);
    let root = Element { name: String::new(), children: Vec::new(), attributes: Vec::new(), at: 0 };
    let mut open = vec![root];
    loop {
        let at = reader.buffer_position() as usize;
        let event = reader.read_event();
        let event = event.map_err(|error| Fault::new(FormatCode::F001, reader.error_position() as usize, error))?;
        match event {
            Event::Start(start) => open.push(element(&start, at)?),
            Event::Empty(start) => {
                let one = element(&start, at)?;
                if let Some(parent) = open.last_mut() {
                    parent.children.push(one);
                }
            }
            Event::End(_) => {
                if let (Some(one), Some(parent)) = (open.pop(), open.last_mut()) {
                    parent.children.push(one);
                }
            }
            Event::Text(text) if text.trim().is_empty() => {}
            Event::Comment(_) | Event::Decl(_) => {}
            Event::Eof => break,
            _ => return Err(Fault::new(FormatCode::F001, at, "only elements and comments are allowed here")),
        }
    }
    let mut root = open.swap_remove(0);
    match (open.is_empty(), root.children.len()) {
        (true, 1) => Ok(root.children.swap_remove(0)),
        (false, _) => Err(Fault::new(FormatCode::F001, text.len(), "an element is not closed")),
        (true, _) => Err(Fault::new(FormatCode::F001, 0, "the file is not one XML element")),
    }
}

fn element(start: &BytesStart<'_>, at: usize) -> Result<Element, Fault> {
    let fault = |error: &dyn Display| Fault::new(FormatCode::F001, at, error);
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| fault(&error))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| fault(&error))?;
        attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
    }
    let name = start.name().as_ref().to_owned();
    Ok(Element { name, children: Vec::new(), attributes, at })
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
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The value of a required attribute.
    pub(super) fn value<T: FromStr>(&self, key: &str) -> Result<T, Fault> {
        let missing = || self.fault(FormatCode::F002, format!("<{}> has no attribute `{key}`", self.name));
        let text = self.text(key).ok_or_else(missing)?;
        text.parse().map_err(|_| self.wrong(format!("`{key}` of <{}> is \"{text}\", no such number", self.name)))
    }

    /// Refuses all other attributes.
    pub(super) fn only(&self, keys: &[&str]) -> Result<(), Fault> {
        let unknown = self.attributes.iter().find(|(name, _)| !keys.contains(&name.as_str()));
        unknown.map_or(Ok(()), |(name, _)| {
            Err(self.fault(FormatCode::F002, format!("<{}> has an unknown attribute `{name}`", self.name)))
        })
    }

    /// All children, which must have this name.
    pub(super) fn children_named(&self, name: &str) -> Result<&[Self], Fault> {
        self.children.iter().find(|child| child.name != name).map_or(Ok(&self.children), |child| {
            let message = format!("<{}> in <{}>, where only <{name}> is allowed", child.name, self.name);
            Err(child.fault(FormatCode::F002, message))
        })
    }
}
