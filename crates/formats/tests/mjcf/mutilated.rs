//! Constraints and tendons with words exchanged and numbers replaced: read or refused, never a panic.

use crate::try_load;

const LINKAGE: &str = r#"<mujoco><option><flag equality="enable" limit="enable"/></option>
  <default><tendon stiffness="2" damping="1"/><equality solref="0.02 1"/><default class="k"><equality active="false"/>
    <tendon springlength="0.1 0.2"/></default></default>
  <worldbody><site name="w" pos="1 2 3"/><body name="a"><freejoint/><geom name="ga" size="1" friction="1 0.1 0.1" condim="4"/>
    <site name="sa" pos="0.1 0.2 0.3"/><body name="b" pos="0.3 0 0"><joint name="h" ref="5" actuatorfrcrange="-3 3"/>
    <geom name="gb" size="1" condim="6"/><body name="c"><joint name="s" type="slide" frictionloss="1" springdamper="1 1"/>
    <geom name="gc" size="1"/></body></body></body><body name="d"><joint name="ball" type="ball"/><geom size="1"/></body>
  </worldbody>
  <contact><pair geom1="ga" geom2="gc" friction="1 1 0.1 0.2 0.2"/></contact>
  <tendon><fixed name="t" class="k" range="-1 1"><joint joint="h" coef="2"/><joint joint="s" coef="3"/></fixed>
    <fixed name="u" armature="2" frictionloss="1" springlength="-1"><joint joint="s" coef="2"/></fixed>
    <spatial name="v"><site site="sa"/><geom geom="ga" sidesite="w"/><site site="w"/><pulley divisor="2"/><site site="w"/><site site="sa"/></spatial></tendon>
  <equality><connect name="p" body1="a" body2="d" anchor="1 2 3"/><connect site1="sa" site2="w"/>
    <weld body1="b" body2="d" relpose="1 2 3 1 0 0 1" anchor="1 1 1" torquescale="1"/><weld body1="c" class="k"/>
    <joint joint1="h" joint2="s" polycoef="1 2 3 4 5"/><tendon tendon1="t" tendon2="u" active="true" solimp="0.9 0.9"/>
    <distance geom1="ga" geom2="gb" distance="2"/></equality>
  <actuator><position tendon="t" kp="3" dampratio="1" gear="2" inheritrange="1"/><motor tendon="v"/></actuator></mujoco>"#;

const REPLACEMENTS: [&str; 12] =
    ["nan", "-1", "0", "7", "0.01", "1e308", "-1e308", "1e-308", "99999999999", "inf", "x", ""];

/// The text cut into words, and what is between them.
fn tokens(text: &str) -> Vec<&str> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| in_word(c) != in_word(first)).unwrap_or(rest.len());
        let (token, tail) = rest.split_at(end);
        tokens.push(token);
        rest = tail;
    }
    tokens
}

#[test]
fn mutilated_constraints_are_read_or_refused() {
    let tokens = tokens(LINKAGE);
    let is_number = |k: &usize| tokens[*k].parse::<f64>().is_ok();
    let numbers: Vec<usize> = (0..tokens.len()).filter(is_number).collect();
    let mut seed = 11_u64;
    let mut below = |n: usize| {
        // Marsaglia's xorshift.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % n
    };
    let (mut read, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut mutant = tokens.clone();
        for _ in 0..1 + below(3) {
            let at = if below(3) == 0 { below(tokens.len()) } else { numbers[below(numbers.len())] };
            let replacement = below(REPLACEMENTS.len() + 4);
            mutant[at] = REPLACEMENTS.get(replacement).copied().unwrap_or(tokens[below(tokens.len())]);
        }
        match try_load(&mutant.concat()) {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}
