//! The place of a value in a JSON text.

/// One step of the path from the root of a JSON text to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathItem<'a> {
    /// To the value of a key of an object.
    Key(&'a str),
    /// To an entry of an array, from 0.
    Index(usize),
}

/// Line and column, from 1 and in characters, of the value at a path such as `steps[3].transfers[5].chunks[7]`; `None`
/// if the text has no such value. Reads only the text before the value, in linear time.
///
/// ```
/// use collsynth_verify::json::{PathItem, locate};
/// let text = "{\"steps\":\n  [10, 20]}";
/// assert_eq!(locate(text, &[PathItem::Key("steps"), PathItem::Index(1)]), Some((2, 8)));
/// ```
pub fn locate(text: &str, path: &[PathItem<'_>]) -> Option<(usize, usize)> {
    let mut cursor = Cursor { bytes: text.as_bytes(), at: 0 };
    cursor.skip_space();
    for item in path {
        match item {
            PathItem::Key(key) => cursor.enter_key(key)?,
            PathItem::Index(index) => cursor.enter_index(*index)?,
        }
    }
    cursor.peek()?;
    let before = text.get(..cursor.at)?;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    Some((line, before[line_start..].chars().count() + 1))
}

/// A place in the text, at the beginning of a value unless stated otherwise.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Moves past a byte and the space around it.
    fn expect(&mut self, wanted: u8) -> Option<()> {
        self.skip_space();
        (self.peek()? == wanted).then_some(())?;
        self.at += 1;
        self.skip_space();
        Some(())
    }

    fn enter_key(&mut self, wanted: &str) -> Option<()> {
        self.expect(b'{')?;
        loop {
            let start = self.at;
            self.skip_string()?;
            let key: String = serde_json::from_slice(&self.bytes[start..self.at]).ok()?;
            self.expect(b':')?;
            if key == wanted {
                return Some(());
            }
            self.skip_value()?;
            self.expect(b',')?;
        }
    }

    fn enter_index(&mut self, index: usize) -> Option<()> {
        self.expect(b'[')?;
        for _ in 0..index {
            self.skip_value()?;
            self.expect(b',')?;
        }
        (self.peek()? != b']').then_some(())
    }

    fn skip_string(&mut self) -> Option<()> {
        (self.peek()? == b'"').then_some(())?;
        self.at += 1;
        while self.peek()? != b'"' {
            self.at += if self.peek()? == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        Some(())
    }

    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' if depth == 0 => return self.skip_string(),
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 1 => {
                    self.at += 1;
                    return Some(());
                }
                // The end of the object or array around a number or a word.
                b'}' | b']' | b',' if depth == 0 => return Some(()),
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }
}
