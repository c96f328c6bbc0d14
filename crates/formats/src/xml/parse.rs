//! XML text into elements: in one pass, without recursion, and within the limits of [`crate::limits`].
//!
//! Model files are written for the parsers of MuJoCo and urdfdom, which are lenient. What these take and the XML
//! standard forbids is taken here, too, and becomes a warning: `--` in comments, `&` that begins no entity, `<` in
//! attributes, attributes without a blank between them, text before the root element, elements and end tags after it. Strict parsers refuse
//! such files: `roxmltree` 0.21 all eight of these, and prefixes without a declaration.

use std::collections::BTreeMap;

use multibody::Warning;

use super::{Attribute, Document, ElementData};
use crate::LoadError;
use crate::limits::{
    MAX_ATTRIBUTES, MAX_ATTRIBUTES_OF_ELEMENT, MAX_DEPTH, MAX_ELEMENTS, MAX_ENTITY_BYTES, MAX_ENTITY_DEPTH,
};

impl Document {
    /// Parses `text`, which came from `file` (empty: from memory), and returns the index of its root.
    pub fn parse(&mut self, text: &str, file: &str) -> Result<usize, LoadError> {
        let file_index = self.files.len();
        self.files.push(file.into());
        let entities = BTreeMap::new();
        let (open, names) = (Vec::new(), Vec::new());
        let counted = (0, 1);
        Parser {
            document: self,
            text,
            file,
            file_index,
            at: 0,
            counted,
            entities,
            expanded: 0,
            open,
            names,
            root: None,
        }
        .run()
    }
}

struct Parser<'d, 't> {
    document: &'d mut Document,
    text: &'t str,
    file: &'d str,
    file_index: usize,
    /// Where the part begins that has not been read.
    at: usize,
    /// An offset up to which lines have been counted, and its line.
    counted: (usize, u32),
    /// Replacement texts of the document type's entities.
    entities: BTreeMap<&'t str, &'t str>,
    /// Bytes that entities have added.
    expanded: usize,
    /// The elements that are open, outermost first.
    open: Vec<usize>,
    /// Scratch: the names of the attributes of one element.
    names: Vec<&'t str>,
    root: Option<usize>,
}

impl<'t> Parser<'_, 't> {
    fn run(mut self) -> Result<usize, LoadError> {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let length = rest.find('<').unwrap_or(rest.len());
            self.characters(&rest[..length])?;
            self.at += length;
            if length < rest.len() {
                self.markup()?;
            }
        }
        if let Some(&open) = self.open.last() {
            let element = self.document.element(open);
            return Err(element.error("is not closed: expected well-formed XML"));
        }
        self.root.ok_or_else(|| self.malformed(0, "no element"))
    }

    /// What begins with `<`.
    fn markup(&mut self) -> Result<(), LoadError> {
        let rest = &self.text[self.at..];
        if rest.starts_with("<!--") {
            self.comment()
        } else if let Some(data) = rest.strip_prefix("<![CDATA[") {
            let end = data.find("]]>").ok_or_else(|| self.malformed(self.at, "<![CDATA[ without ]]>"))?;
            self.append_text(&data[..end]);
            self.at += "<![CDATA[".len() + end + "]]>".len();
            Ok(())
        } else if rest.starts_with("<!DOCTYPE") {
            self.document_type()
        } else if rest.starts_with("<?") {
            self.skip_past("?>")
        } else if rest.starts_with("</") {
            self.end_tag()
        } else {
            self.start_tag()
        }
    }

    fn comment(&mut self) -> Result<(), LoadError> {
        let inside = &self.text[self.at + 4..];
        let end = inside.find("-->").ok_or_else(|| self.malformed(self.at, "<!-- without -->"))?;
        if inside[..end].contains("--") || inside[..end].ends_with('-') {
            self.fault(self.at, "`--` in a comment: XML does not allow it, read all the same");
        }
        self.at += 4 + end + 3;
        Ok(())
    }

    fn skip_past(&mut self, end: &str) -> Result<(), LoadError> {
        let length = self.text[self.at..].find(end);
        self.at += length.ok_or_else(|| self.malformed(self.at, &format!("markup without {end}")))? + end.len();
        Ok(())
    }

    /// Text between tags: of no meaning in models, the numbers of COLLADA.
    fn characters(&mut self, raw: &'t str) -> Result<(), LoadError> {
        if raw.trim_ascii().is_empty() {
            return Ok(());
        }
        let at = self.at + (raw.len() - raw.trim_ascii_start().len());
        match (self.open.is_empty(), self.root.is_none()) {
            (true, true) => self.fault(at, "text before the root element: ignored"),
            (true, false) => return Err(self.malformed(at, "text after the root element")),
            (false, _) => {
                if let Some(nul) = raw.find('\0') {
                    self.fault(self.at + nul, "a NUL byte between elements: ignored");
                }
                let text = self.decoded(raw, at, true)?;
                self.append_text(&text);
            }
        }
        Ok(())
    }

    fn append_text(&mut self, text: &str) {
        if let Some(&open) = self.open.last() {
            self.document.elements[open].text.push_str(text);
        }
    }

    fn end_tag(&mut self) -> Result<(), LoadError> {
        let name = self.name_at(self.at + 2);
        let Some(open) = self.open.pop() else {
            if self.root.is_none() {
                return Err(self.malformed(self.at, &format!("</{name}> closes nothing")));
            }
            self.fault(self.at, "an end tag after the root element: ignored");
            return self.skip_past(">");
        };
        let element = self.document.element(open);
        if local(name) != element.name() {
            let what = format!("</{name}>: expected </{}>, which line {} opens", element.name(), element.line());
            return Err(self.malformed(self.at, &what));
        }
        let after = self.at + 2 + name.len();
        let blanks = self.blanks_at(after);
        if self.byte(after + blanks) != Some(b'>') {
            return Err(self.malformed(self.at, &format!("</{name} without >")));
        }
        self.at = after + blanks + 1;
        Ok(())
    }

    fn start_tag(&mut self) -> Result<(), LoadError> {
        let start = self.at;
        let name = self.name_at(start + 1);
        if name.is_empty() {
            return Err(self.malformed(start, "`<` that begins no element"));
        }
        self.at += 1 + name.len();
        let line = self.line_of(start);
        let index = self.add_element(local(name), line)?;
        if name.starts_with("xacro:") {
            self.document.template.get_or_insert(index);
        }
        let is_empty = self.attributes(index)?;
        if !is_empty {
            self.open.push(index);
            if self.open.len() > MAX_DEPTH {
                return Err(self.beyond(
                    line,
                    name,
                    &format!("elements inside each other: expected at most {MAX_DEPTH}"),
                ));
            }
        }
        Ok(())
    }

    /// A new element below the innermost that is open.
    fn add_element(&mut self, name: &str, line: u32) -> Result<usize, LoadError> {
        let index = self.document.elements.len();
        if index >= MAX_ELEMENTS {
            return Err(self.beyond(line, name, &format!("XML elements: expected at most {MAX_ELEMENTS}")));
        }
        match (self.open.last(), self.root) {
            (Some(&parent), _) => self.document.elements[parent].children.push(index),
            (None, None) => self.root = Some(index),
            (None, Some(_)) => self.fault(self.at, "an element after the root element: ignored"),
        }
        let kind = self.document.kinds.index_of(name);
        self.document.elements.push(ElementData { kind, file: self.file_index, line, ..ElementData::default() });
        Ok(index)
    }

    /// The attributes of an element, up to the end of its tag; whether it is empty (`/>`).
    fn attributes(&mut self, index: usize) -> Result<bool, LoadError> {
        self.names.clear();
        loop {
            let blanks = self.blanks_at(self.at);
            self.at += blanks;
            match self.byte(self.at) {
                Some(b'>') => {
                    self.at += 1;
                    return Ok(false);
                }
                Some(b'/') if self.byte(self.at + 1) == Some(b'>') => {
                    self.at += 2;
                    return Ok(true);
                }
                Some(_) => {}
                None => return Err(self.document.element(index).error("tag without >: expected well-formed XML")),
            }
            if blanks == 0 {
                self.fault(self.at, "no blank before an attribute: XML requires one, read all the same");
            }
            self.attribute(index)?;
        }
    }

    fn attribute(&mut self, index: usize) -> Result<(), LoadError> {
        let start = self.at;
        let name = self.name_at(start);
        let element = self.document.element(index);
        if name.is_empty() {
            let found = self.text[start..].chars().next().unwrap_or_default();
            return Err(self.malformed(start, &format!("`{found}` in the tag of <{}>", element.name())));
        }
        let equals = start + name.len() + self.blanks_at(start + name.len());
        let opening = equals + 1 + self.blanks_at((equals + 1).min(self.text.len()));
        let quote = self.byte(opening).filter(|b| matches!(b, b'"' | b'\''));
        let (Some(b'='), Some(quote)) = (self.byte(equals), quote) else {
            return Err(self.malformed(start, &format!("attribute `{name}` without a value in quotes")));
        };
        let length = self.text[opening + 1..].find(char::from(quote));
        let length =
            length.ok_or_else(|| self.malformed(start, &format!("attribute `{name}` without closing quote")))?;
        if self.names.contains(&name) {
            return Err(self.malformed(start, &format!("a second attribute `{name}` in <{}>", element.name())));
        }
        if self.names.len() >= MAX_ATTRIBUTES_OF_ELEMENT {
            return Err(
                element.error(format!("attributes: expected at most {MAX_ATTRIBUTES_OF_ELEMENT} in one element"))
            );
        }
        if self.document.attributes >= MAX_ATTRIBUTES {
            return Err(element.error(format!("attributes: expected at most {MAX_ATTRIBUTES} in a model")));
        }
        self.names.push(name);
        self.document.attributes += 1;
        let raw = &self.text[opening + 1..opening + 1 + length];
        if raw.contains('<') {
            self.fault(opening, "`<` in an attribute: XML does not allow it, read all the same");
        }
        if raw.contains('\u{fffd}') {
            self.fault(opening, "bytes in an attribute that are not UTF-8: read as \u{fffd}");
        }
        if let Some(nul) = raw.find('\0') {
            return Err(self.malformed(opening + 1 + nul, &format!("a NUL byte in the attribute `{name}`")));
        }
        let value = self.decoded(raw, opening + 1, false)?;
        self.at = opening + 1 + length + 1;
        // Namespaces are not looked at: files declare COLLADA's under several addresses, or none.
        if name != "xmlns" && !name.starts_with("xmlns:") {
            let attribute = Attribute { name: local(name).into(), value, ..Attribute::default() };
            self.document.elements[index].attributes.push(attribute);
        }
        Ok(())
    }

    /// `<!DOCTYPE … [ … ]>`: its entities with a text; all else is skipped.
    fn document_type(&mut self) -> Result<(), LoadError> {
        let start = self.at;
        self.at += "<!DOCTYPE".len();
        let mut is_inside = false;
        loop {
            let rest = &self.text[self.at..];
            match rest.bytes().next() {
                None => return Err(self.malformed(start, "<!DOCTYPE without >")),
                Some(b'[') => is_inside = true,
                Some(b']') => is_inside = false,
                Some(b'>') if !is_inside => {
                    self.at += 1;
                    return Ok(());
                }
                Some(quote @ (b'"' | b'\'')) => {
                    self.at += 1;
                    self.skip_past(if quote == b'"' { "\"" } else { "'" })?;
                    continue;
                }
                Some(b'<') if rest.starts_with("<!--") => {
                    self.comment()?;
                    continue;
                }
                Some(b'<') if rest.starts_with("<!ENTITY") => self.entity(),
                Some(_) => {}
            }
            self.at += rest.chars().next().map_or(0, char::len_utf8);
        }
    }

    /// `<!ENTITY name "text">` at the present place, which stays. Other entities (parameters, other files) are not read.
    fn entity(&mut self) {
        let name_at = self.at + "<!ENTITY".len() + self.blanks_at(self.at + "<!ENTITY".len());
        let name = self.name_at(name_at);
        let opening = name_at + name.len() + self.blanks_at(name_at + name.len());
        if let Some(quote @ (b'"' | b'\'')) = self.byte(opening).filter(|_| !name.is_empty()) {
            let value = &self.text[opening + 1..];
            if let Some(end) = value.find(char::from(quote)) {
                // The first declaration of a name counts.
                self.entities.entry(name).or_insert(&value[..end]);
            }
        }
    }

    /// `raw`, at this offset of the text, with its references replaced.
    fn decoded(&mut self, raw: &str, at: usize, is_content: bool) -> Result<String, LoadError> {
        if !raw.contains('&') {
            return Ok(raw.into());
        }
        let mut out = String::with_capacity(raw.len());
        self.decode_into(raw, at, is_content, 0, &mut out)?;
        Ok(out)
    }

    /// Recursion: as deep as entities refer to each other, [`MAX_ENTITY_DEPTH`] at most.
    fn decode_into(
        &mut self,
        raw: &str,
        at: usize,
        is_content: bool,
        depth: usize,
        out: &mut String,
    ) -> Result<(), LoadError> {
        let mut pieces = raw.split('&');
        out.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            // Names of entities are short: what has no `;` soon is no reference.
            let end = piece.bytes().take(64).position(|b| b == b';');
            let reference = end.map(|end| (&piece[..end], &piece[end + 1..]));
            let Some((name, rest)) = reference else {
                self.fault(at, "`&` that begins no reference: expected `&amp;`, taken as it stands");
                out.push('&');
                out.push_str(piece);
                continue;
            };
            if let Some(c) = character(name) {
                out.push(c);
            } else if let Some(&value) = self.entities.get(name) {
                self.count_expansion(name, value, at, depth, is_content)?;
                self.decode_into(value, at, is_content, depth + 1, out)?;
            } else {
                self.fault(at, "a reference to an entity that is not declared: taken as it stands");
                out.push('&');
                out.push_str(name);
                out.push(';');
            }
            out.push_str(rest);
        }
        Ok(())
    }

    fn count_expansion(
        &mut self,
        name: &str,
        value: &str,
        at: usize,
        depth: usize,
        is_content: bool,
    ) -> Result<(), LoadError> {
        self.expanded += value.len();
        if depth >= MAX_ENTITY_DEPTH {
            return Err(self.malformed(at, &format!("entities inside each other: expected at most {MAX_ENTITY_DEPTH}")));
        }
        if self.expanded > MAX_ENTITY_BYTES {
            let limit = format!("entities that add up to more than {MAX_ENTITY_BYTES} bytes, the limit");
            return Err(self.malformed(at, &limit));
        }
        if is_content && value.contains('<') {
            return Err(self.malformed(at, &format!("entity `{name}` with elements in it: expected text")));
        }
        Ok(())
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The number of blanks from here on.
    fn blanks_at(&self, at: usize) -> usize {
        self.text.as_bytes()[at..].iter().take_while(|b| b.is_ascii_whitespace()).count()
    }

    /// The name that begins here; empty where none does.
    fn name_at(&self, at: usize) -> &'t str {
        let in_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'-' | b'.') || *b >= 0x80;
        let length = self.text.as_bytes()[at..].iter().take_while(|b| in_name(b)).count();
        let name = &self.text[at..at + length];
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') { "" } else { name }
    }

    /// The line of an offset, from 1.
    fn line_of(&mut self, at: usize) -> u32 {
        let (known, line) = if self.counted.0 <= at { self.counted } else { (0, 1) };
        let line = line + self.text.as_bytes()[known..at].iter().filter(|b| **b == b'\n').count() as u32;
        self.counted = (at, line);
        line
    }

    /// Notes a fault that changes nothing, once for each kind and file.
    fn fault(&mut self, at: usize, message: &str) {
        let file = self.file;
        if !self.document.faults.iter().any(|known| known.file == file && known.message == message) {
            let (line, element, message) = (self.line_of(at), "xml".into(), message.into());
            self.document.faults.push(Warning { file: file.into(), line, element, message });
        }
    }

    fn malformed(&self, at: usize, what: &str) -> LoadError {
        let line = 1 + self.text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() as u32;
        LoadError::new(self.file, line, "", format!("{what}: expected well-formed XML"))
    }

    fn beyond(&self, line: u32, element: &str, what: &str) -> LoadError {
        LoadError::new(self.file, line, element, format!("too many {what}"))
    }
}

/// A name without its namespace.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// The character that a predefined entity or a numeric reference stands for.
fn character(reference: &str) -> Option<char> {
    match reference {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = reference.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}
