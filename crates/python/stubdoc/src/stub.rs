//! The docstrings of a stub, as the formatter writes stubs: four spaces in classes, `"""` after a signature.

use std::collections::HashMap;

/// Docstrings by `function`, `Class` and `Class.method`.
pub type Docstrings = HashMap<String, String>;

pub fn docstrings(text: &str) -> Docstrings {
    let mut docs = Docstrings::new();
    let mut lines = text.lines().peekable();
    let mut class = String::new();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        let is_inside = line.len() > code.len();
        if !is_inside && !code.is_empty() && !code.starts_with(['@', ')']) {
            class.clear();
        }
        let name =
            |rest: &str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned();
        let key = if let Some(rest) = code.strip_prefix("class ") {
            class = name(rest);
            class.clone()
        } else if let Some(rest) = code.strip_prefix("def ") {
            let mut last = line;
            while !is_end(last) {
                match lines.next() {
                    Some(line) => last = line,
                    None => return docs,
                }
            }
            if is_inside { format!("{class}.{}", name(rest)) } else { name(rest) }
        } else {
            continue;
        };
        let Some(first) = lines.peek().and_then(|line| line.trim_start().strip_prefix("\"\"\"")) else { continue };
        let doc = match first.strip_suffix("\"\"\"") {
            Some(line) => line.to_owned(),
            None => {
                let first = first.to_owned();
                lines.next();
                let rest: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "\"\"\"").collect();
                dedented(first, &rest)
            }
        };
        docs.entry(key).or_insert(doc);
    }
    docs
}

/// Whether a signature ends in this line.
fn is_end(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with(':') || line.ends_with(": ...")
}

/// Lines without the indentation that all have, as `inspect.cleandoc` does it.
fn dedented(first: String, rest: &[&str]) -> String {
    let indentation = |line: &&&str| line.len() - line.trim_start().len();
    let common = rest.iter().filter(|line| !line.trim().is_empty()).map(|line| indentation(&line)).min().unwrap_or(0);
    let lines = rest.iter().map(|line| line.get(common..).unwrap_or_default().trim_end());
    lines.fold(first, |doc, line| doc + "\n" + line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docstrings_are_found() {
        let docs = docstrings(
            "\"\"\"Module.\"\"\"\nX: int\n\"\"\"A number.\"\"\"\n\ndef f(a: int) -> int:\n    \"\"\"F.\"\"\"\n\n@final\nclass A:\n    \"\"\"The class.\n\n    \
             Args:\n        a: One.\n    \"\"\"\n\n    def __new__(\n        cls,\n        x: int = 1,\n    ) -> A: ...\n    @property\n    def q(self) -> int:\n        \
             \"\"\"Positions.\"\"\"\n\n    @q.setter\n    def q(self, value: int) -> None: ...\n    def m(\n        self,\n    ) -> None:\n        \"\"\"M.\n\n        Much.\n        \
             \"\"\"\n\ndef g() -> None:\n    \"\"\"G.\"\"\"\n",
        );
        let mut found: Vec<_> = docs.iter().map(|(key, doc)| (key.as_str(), doc.as_str())).collect();
        found.sort_unstable();
        let expected = [
            ("A", "The class.\n\nArgs:\n    a: One."),
            ("A.m", "M.\n\nMuch."),
            ("A.q", "Positions."),
            ("f", "F."),
            ("g", "G."),
        ];
        assert_eq!(found, expected);
    }
}
