//! `<flag override="enable"/>`: all contacts have the margin, friction, `solref` and `solimp` of `<option>`.

use crate::xml::Document;

/// What `<option>` sets, with MuJoCo's default, and what that is of a pair: half of a margin is that of each geom.
const OVERRIDES: [(&str, &str, &str); 4] = [
    ("o_margin", "margin", "0"),
    ("o_solref", "solref", "0.02 1"),
    ("o_solimp", "solimp", "0.9 0.95 0.001 0.5 2"),
    ("o_friction", "friction", "1 1 0.005 0.0001 0.0001"),
];

/// Gives every geom and every pair these parameters as its own, if the flag says so.
pub(super) fn apply(document: &mut Document, root: usize) {
    let options: Vec<usize> = document.element(root).children_of("option").collect();
    let is_flag = |element: &crate::xml::Element<'_>| element.name() == "flag";
    let flags = options.iter().flat_map(|&option| document.element(option).descendants().filter(is_flag));
    if flags.filter_map(|flag| flag.peek("override")).last() != Some("enable") {
        return;
    }
    let elements = document.element(root).descendants().filter(|e| matches!(e.name(), "geom" | "pair"));
    // Not the geoms that a string wraps around.
    let surfaces: Vec<(usize, bool)> = elements
        .filter(|element| element.name() == "pair" || element.peek("geom").is_none())
        .map(|element| (element.index(), element.name() == "pair"))
        .collect();
    for (option, attribute, default) in OVERRIDES {
        let given = options.iter().filter_map(|&element| document.element(element).peek(option)).next_back();
        let of_pair = given.unwrap_or(default).to_owned();
        let numbers: Vec<&str> = of_pair.split_ascii_whitespace().collect();
        let of_geom = match (attribute, &numbers[..]) {
            ("margin", [margin]) => margin.parse::<f64>().map_or_else(|_| of_pair.clone(), |x| (0.5 * x).to_string()),
            ("friction", [sliding, _, spinning, rolling, ..]) => format!("{sliding} {spinning} {rolling}"),
            _ => of_pair.clone(),
        };
        for &(surface, is_pair) in &surfaces {
            document.set_attribute(surface, attribute, if is_pair { of_pair.clone() } else { of_geom.clone() });
        }
    }
}
