//! Messages for people.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Letters of a word, or of what stands in quotes, that a message shows whole.
const LONGEST_WORD: usize = 100;
/// The same of what looks like a path: its end says most.
const LONGEST_PATH: usize = 160;
/// Letters of a message that has many words of somebody's.
const LONGEST_MESSAGE: usize = 600;

/// A message that is [`brief`], with an exponent in numbers whose digits would fill lines.
///
/// ```
/// assert_eq!(sapwood_support::legible(&format!("mass {} kg", 1e299)), "mass 1e299 kg");
/// ```
pub fn legible(message: &str) -> String {
    brief(&with_exponents(message))
}

/// A [`harmless`] text with the beginning and the end of words that would fill lines, as those of a file or a caller may.
pub fn brief(text: &str) -> String {
    let text = harmless(text);
    let mut brief = String::with_capacity(text.len());
    let mut rest = &*text;
    while !rest.is_empty() {
        let (unit, after) = rest.split_at(length_of_unit(rest));
        let longest = if unit.contains('/') { LONGEST_PATH } else { LONGEST_WORD };
        brief.push_str(&ends(unit, longest));
        rest = after;
    }
    match ends(&brief, LONGEST_MESSAGE) {
        Cow::Borrowed(_) => brief,
        Cow::Owned(ends) => ends,
    }
}

/// Bytes of what a text begins with: something in quotes, or a word, with the space before it.
fn length_of_unit(text: &str) -> usize {
    let mut is_escaped = false;
    let closes = |c: char| {
        let closes = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        closes
    };
    let word = text.trim_start_matches(char::is_whitespace);
    let space = text.len() - word.len();
    if let Some(end) = word.strip_prefix('"').and_then(|inside| inside.find(closes)) {
        return space + end + 2;
    }
    let first = word.chars().next().map_or(0, char::len_utf8);
    let end = word[first..].find(|c: char| c.is_whitespace() || c == '"');
    end.map_or(text.len(), |end| space + first + end)
}

/// A text, of one with more than `longest` letters the beginning and the end.
fn ends(text: &str, longest: usize) -> Cow<'_, str> {
    // Bytes are at least as many as letters.
    let count = if text.len() <= longest { 0 } else { text.chars().count() };
    if count <= longest {
        return Cow::Borrowed(text);
    }
    let tail = longest / 2;
    let (beginning, end) = (text.chars().take(longest - tail - 1), text.chars().skip(count - tail));
    Cow::Owned(beginning.chain(['…']).chain(end).collect())
}

/// A text in which names of a file cannot command a terminal or hide in it: control characters, those that turn the direction of
/// writing, and those that nobody sees, as Rust writes them; but for ends of lines and tabs.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hides =
        |c: char| matches!(c, '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    let commands = |c: char| turns(c) || hides(c) || c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if commands(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

fn with_exponents(message: &str) -> String {
    const LONGEST_NUMBER: usize = 24;
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    // Names may have digits, too.
    let is_of_name = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let mut legible = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, from_number) = rest.split_at(start);
        let (number, after) =
            from_number.split_at(from_number.find(|letter| !is_of_number(letter)).unwrap_or(from_number.len()));
        legible.push_str(before);
        let is_name = is_of_name(legible.chars().next_back()) || is_of_name(after.chars().next());
        match number.parse::<f64>() {
            Ok(value) if number.len() > LONGEST_NUMBER && !is_name => {
                write!(legible, "{value:e}").expect("a string takes all")
            }
            _ => legible.push_str(number),
        }
        rest = after;
    }
    legible.push_str(rest);
    legible
}

#[cfg(test)]
mod tests {
    use super::{brief, legible};

    #[test]
    fn long_words_do_not_fill_lines() {
        let long = "x".repeat(5000);
        for text in
            [format!("class=\"{long}\" or {long}: expected"), format!("\"{}", "x é\\\"".repeat(999)), long.clone()]
        {
            let brief = brief(&text);
            assert!(brief.chars().count() <= super::LONGEST_MESSAGE && brief.contains('…'), "{brief}");
            assert_eq!(super::brief(&brief), brief);
        }
        assert!(
            brief(&format!("joint=\"{}\": expected a joint", "x ".repeat(999))).ends_with("x \": expected a joint")
        );
        assert!(brief(&format!("/{long}/robot.xml: cannot")).ends_with("x/robot.xml: cannot"));
        let quotes = format!("mesh \"m\" {}attribute=\"n\"", "is too small ".repeat(20));
        assert_eq!(brief(&quotes), quotes);
        let short = "  name=\"a\\\"b\": expected  one \" of\n these ";
        assert_eq!(brief(short), short);
    }

    #[test]
    fn nothing_commands_a_terminal_or_hides() {
        assert_eq!(brief("a\u{1b}[2J\u{202e}\u{200b}é\tb"), "a\\u{1b}[2J\\u{202e}\\u{200b}é\tb");
    }

    #[test]
    fn numbers_that_would_fill_lines_have_an_exponent() {
        let of = |value: f64| legible(&format!("mass=\"{value}\", é: expected 1.5 or more"));
        assert_eq!(of(-1e299), "mass=\"-1e299\", é: expected 1.5 or more");
        assert_eq!(of(3e-200), "mass=\"3e-200\", é: expected 1.5 or more");
        let name = "\"1000000000000000000000000001.stl\", mesh_1000000000000000000000000001: no such file";
        assert_eq!(legible(name), name);
        assert_eq!(of(0.1 + 0.2), "mass=\"0.30000000000000004\", é: expected 1.5 or more");
    }
}
