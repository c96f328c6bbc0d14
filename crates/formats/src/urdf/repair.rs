//! What XML does not allow around a document but real files have.

use std::borrow::Cow;

/// The text without what a parser would stumble over, its lines where they were, and what was wrong with it.
pub(crate) fn repaired(text: &str) -> (Cow<'_, str>, Vec<&'static str>) {
    let mut found = Vec::new();
    let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let content = without_mark.trim_end_matches(['\0', '\u{1a}']);
    if content.len() < without_mark.len() {
        found.push("NUL or end-of-file characters after the end: ignored");
    }
    let start = content.len() - content.trim_start().len();
    if start == 0 || !content[start..].starts_with("<?xml") {
        return (Cow::Borrowed(content), found);
    }
    found.push("blanks before <?xml …?>: ignored");
    let end = content.find("?>").map_or(content.len(), |at| at + 2);
    // The declaration gives way to blanks, so that lines keep their numbers.
    let blanks = content[..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' });
    (Cow::Owned(blanks.collect::<String>() + &content[end..]), found)
}
