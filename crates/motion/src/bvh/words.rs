//! Text as words with their lines.

use crate::ReadError;

/// A word and the line, from 1, where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub text: &'a str,
    pub line: usize,
}

/// The words of a text, with one to look ahead.
pub(super) struct Words<'a> {
    file: &'a str,
    words: std::iter::Peekable<Box<dyn Iterator<Item = Word<'a>> + 'a>>,
    /// What stood behind the colon of a keyword without a space between.
    rest: Option<Word<'a>>,
    line: usize,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str, file: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().enumerate();
        let words: Box<dyn Iterator<Item = Word<'a>> + 'a> =
            Box::new(lines.flat_map(|(k, line)| line.split_whitespace().map(move |text| Word { text, line: k + 1 })));
        Self { file, words: words.peekable(), rest: None, line: 1 }
    }

    /// An error at a line.
    pub fn error(&self, line: usize, message: impl AsRef<str>) -> ReadError {
        ReadError::new(self.file, line, message)
    }

    pub fn peek(&mut self) -> Option<Word<'a>> {
        self.words.peek().copied()
    }

    /// The next word, of which `expected` says what it should be.
    pub fn next(&mut self, expected: &str) -> Result<Word<'a>, ReadError> {
        let Some(word) = self.rest.take().or_else(|| self.words.next()) else {
            return Err(self.error(self.line, format!("the file ends here: expected {expected}")));
        };
        self.line = word.line;
        Ok(word)
    }

    /// The next word, which must be `keyword` in any case, with or without a colon behind it.
    pub fn keyword(&mut self, keyword: &str) -> Result<Word<'a>, ReadError> {
        let word = self.next(keyword)?;
        let (text, rest) = word.text.split_once(':').unwrap_or((word.text, ""));
        if !text.eq_ignore_ascii_case(keyword) {
            return Err(self.error(word.line, unexpected(word.text, keyword)));
        }
        self.words.next_if(|w| w.text == ":");
        if !rest.is_empty() {
            self.rest = Some(Word { text: rest, line: word.line });
        }
        Ok(word)
    }

    /// The next word as a finite number.
    pub fn number(&mut self, what: &str) -> Result<f64, ReadError> {
        let word = self.next(&format!("{what}, a number"))?;
        let number = word.text.parse::<f64>().ok().filter(|x| x.is_finite());
        number.ok_or_else(|| self.error(word.line, format!("{what}: {:?}: expected a finite number", word.text)))
    }

    /// The next word as a number of things.
    pub fn count(&mut self, what: &str) -> Result<usize, ReadError> {
        let word = self.next(&format!("{what}, a whole number"))?;
        let number = word.text.parse().ok();
        number.ok_or_else(|| self.error(word.line, format!("{what}: {:?}: expected a whole number", word.text)))
    }

    /// The words that are left on the line of the next word, and that line; none at the end of the text.
    pub fn row(&mut self) -> Option<(usize, Vec<&'a str>)> {
        let line = self.peek()?.line;
        let mut row = Vec::new();
        while let Some(word) = self.words.next_if(|w| w.line == line) {
            row.push(word.text);
        }
        self.line = line;
        Some((line, row))
    }
}

/// Whether a word is a keyword, whatever the case.
pub(super) fn is(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}

pub(super) fn unexpected(word: &str, expected: &str) -> String {
    format!("{word:?}: expected {expected}")
}
