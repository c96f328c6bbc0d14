//! Names that are like a misspelt one, for messages that say what was probably meant.
//!
//! ```
//! use sapwood_support::suggest::{did_you_mean, similar};
//!
//! let known = ["stand", "squat", "stand_on_left_leg"];
//! assert_eq!(similar("sqaut", known), ["squat"]);
//! assert_eq!(did_you_mean("Stand", known).unwrap(), "did you mean \"stand\" or \"stand_on_left_leg\"?");
//! assert_eq!(did_you_mean("crouch", known), None);
//! ```

/// So many names are suggested.
const MAX_SUGGESTIONS: usize = 3;
/// Least similarity of a suggestion: 1 minus the edits per letter. One in three letters may differ, which "rnu" needs to become "run".
const MIN_SIMILARITY: f64 = 0.6;
/// Least number of letters with which a part of a name is like the name.
const MIN_PART: usize = 3;
/// By how much less a beginning counts than the whole: one letter in four may differ.
const BEGINNING: f64 = 0.8;

/// Those of the names that are like `name`, the nearest first, at most three. Upper and lower case count as the same.
pub fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<(f64, &str)> =
        known.into_iter().map(|known| (similarity(name, known), known)).filter(|(s, _)| *s >= MIN_SIMILARITY).collect();
    // Stable: names that are as near keep their order.
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.dedup_by_key(|(_, known)| *known);
    ranked.into_iter().take(MAX_SUGGESTIONS).map(|(_, known)| known).collect()
}

/// A question that ends a message, `did you mean "run"?`, or `None` where no name is near.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    question(similar(name, known).into_iter().map(|name| format!("{name:?}")))
}

/// The question for names that were found otherwise and are quoted as they should be, or `None` where there are none.
pub fn question(names: impl IntoIterator<Item = String>) -> Option<String> {
    let names: Vec<String> = names.into_iter().collect();
    let (last, others) = names.split_last()?;
    let others = if others.is_empty() { String::new() } else { format!("{} or ", others.join(", ")) };
    Some(format!("did you mean {others}{last}?"))
}

/// Most letters of names that a message lists: it should have fewer than 300 altogether.
const MAX_LISTED: usize = 80;

/// The names for a message; of many the first and how many more there are.
pub fn listed(names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<String> = names.into_iter().collect();
    let mut letters = 0;
    let fits = |name: &&String| {
        letters += name.chars().count() + 2;
        letters <= MAX_LISTED
    };
    let shown = names.iter().take_while(fits).count().max(1).min(names.len());
    let rest = names.len() - shown;
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", names[..shown].join(", "))
}

/// 1 for the same name, 0 for one that has nothing in common.
fn similarity(name: &str, known: &str) -> f64 {
    let (name, known) = (name.to_lowercase(), known.to_lowercase());
    let edits = strsim::normalized_damerau_levenshtein(&name, &known);
    let length = name.chars().count();
    if length < MIN_PART {
        return edits;
    }
    // The beginning of a longer name, perhaps misspelt, or another part of it.
    let beginning: String = known.chars().take(length).collect();
    let as_beginning = BEGINNING * strsim::normalized_damerau_levenshtein(&name, &beginning);
    let as_part = if known.contains(&name) { MIN_SIMILARITY } else { 0.0 };
    edits.max(as_beginning).max(as_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_fingers_are_found() {
        let scheme = ("simplectic", "symplectic-euler");
        for (typed, meant) in
            [scheme, ("rnu", "run"), ("Rn", "run"), ("humnoid", "humanoid"), ("humanod.xml", "humanoid.xml")]
        {
            let known = ["info", "run", "symplectic-euler", "humanoid", "humanoid.xml", "write"];
            assert_eq!(similar(typed, known).first(), Some(&meant), "{typed}");
        }
    }

    #[test]
    fn what_is_unlike_everything_finds_nothing() {
        for typed in ["", "x", "zzz", "inertia", "日本"] {
            assert!(similar(typed, ["info", "run", "write"]).is_empty(), "{typed}");
        }
    }

    #[test]
    fn of_many_names_the_first_are_listed() {
        let names = |count: usize| (0..count).map(|i| format!("joint_{i:03}"));
        assert_eq!(listed(names(0)), "");
        assert_eq!(listed(names(2)), "joint_000, joint_001");
        assert_eq!(listed(names(500)), format!("{} and 493 more", listed(names(7))));
        let long = "x".repeat(500);
        assert_eq!(listed([long.clone(), "y".into()]), format!("{long} and 1 more"));
    }

    #[test]
    fn the_nearest_come_first_and_three_at_most() {
        let known = ["leg_1", "leg_22", "leg_2", "leg_3", "leg_4"];
        assert_eq!(similar("leg_2", known), ["leg_2", "leg_22", "leg_1"]);
        let question = did_you_mean("leg_2", known).unwrap();
        assert_eq!(question, "did you mean \"leg_2\", \"leg_22\" or \"leg_1\"?");
    }
}
