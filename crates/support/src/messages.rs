//! Messages for people.

use std::fmt::Write as _;

/// A message with an exponent in numbers whose digits would fill lines.
///
/// ```
/// assert_eq!(sapwood_support::legible(&format!("mass {} kg", 1e299)), "mass 1e299 kg");
/// ```
pub fn legible(message: &str) -> String {
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
    use super::legible;

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
