//! XML as the foreign formats use it: elements with attributes, no text between them. Comments are skipped.

use std::fmt::Display;
use std::str::FromStr;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use collsynth_verify::json::{FormatCode, ParseError};

/// An element and what is in it.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) children: Vec<Element>,
    attributes: Vec<(String, String)>,
    /// Where it begins in the text, in bytes.
    pub(super) at: usize,
}

/// Something wrong with the text, or what it means.
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

    /// The same with line and column.
    pub(super) fn into_error(self, text: &str) -> ParseError {
        let mut end = self.at.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        ParseError { code: self.code, line, column: before[start..].chars().count() + 1, message: self.message }
    }
}

/// Line and column, both from 1, of places given in bytes. They need not be in order. O(text + places * log(lines)).
pub(super) fn places(text: &str, starts: &[usize]) -> Vec<(usize, usize)> {
    let mut lines = vec![0];
    lines.extend(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1));
    let place = |&at: &usize| {
        let line = lines.partition_point(|&start| start <= at);
        (line, text.get(lines[line - 1]..at).map_or(1, |before| before.chars().count() + 1))
    };
    starts.iter().map(place).collect()
}

/// Reads a text that is one element.
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
            _ => return Err(Fault::new(FormatCode::F001, at, "only elements and comments have a meaning here")),
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
    /// The value of an attribute, if it is there.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The value of an attribute that must be there.
    pub(super) fn value<T: FromStr>(&self, key: &str) -> Result<T, Fault> {
        let Some(text) = self.text(key) else {
            return Err(Fault::new(FormatCode::F002, self.at, format!("<{}> has no attribute `{key}`", self.name)));
        };
        let wrong = || {
            Fault::new(FormatCode::F003, self.at, format!("`{key}` of <{}> is \"{text}\", no such number", self.name))
        };
        text.parse().map_err(|_| wrong())
    }

    /// Refuses attributes that have no meaning.
    pub(super) fn only(&self, keys: &[&str]) -> Result<(), Fault> {
        match self.attributes.iter().find(|(name, _)| !keys.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                Err(Fault::new(FormatCode::F002, self.at, format!("<{}> has an unknown attribute `{name}`", self.name)))
            }
        }
    }

    /// The elements in it, all of this name.
    pub(super) fn children_named(&self, name: &str) -> Result<&[Self], Fault> {
        match self.children.iter().find(|child| child.name != name) {
            None => Ok(&self.children),
            Some(child) => {
                let message = format!("<{}> in <{}>, where only <{name}> has a meaning", child.name, self.name);
                Err(Fault::new(FormatCode::F002, child.at, message))
            }
        }
    }
}
