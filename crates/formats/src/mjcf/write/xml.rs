//! Text of XML elements, indented.

/// XML text that grows.
#[derive(Default)]
pub(super) struct Xml {
    text: String,
    depth: usize,
}

pub(super) type Attributes = Vec<(&'static str, String)>;

impl Xml {
    /// An element that has others in it.
    pub fn open(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.tag(name, attributes, ">");
        self.depth += 1;
    }

    /// The end of the element opened last.
    pub fn close(&mut self, name: &str) {
        self.depth -= 1;
        // Trees may be deep: chains of thousands of bodies stay readable, and their files small.
        self.text.push_str(&"  ".repeat(self.depth.min(40)));
        self.text.push_str(&format!("</{name}>\n"));
    }

    /// An element with nothing in it.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.tag(name, attributes, "/>");
    }

    pub fn finish(self) -> String {
        self.text
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, String)], end: &str) {
        self.text.push_str(&"  ".repeat(self.depth.min(40)));
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            self.text.push_str(&format!(" {key}=\"{}\"", escaped(value)));
        }
        self.text.push_str(end);
        self.text.push('\n');
    }
}

fn escaped(value: &str) -> String {
    if !value.contains(['&', '<', '>', '"', '\n', '\t', '\r']) {
        return value.to_owned();
    }
    let mut out = String::with_capacity(value.len() + 8);
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
    out
}
