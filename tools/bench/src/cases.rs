//! The characters and motions of the paper's table 2.

use std::path::Path;

use models::characters::Character;

use crate::{Error, Subject};

/// Clips of the paper's humanoid, by the name of the motion and of the file in DeepMimic's folder.
const CLIPS: [(&str, &str); 4] = [
    ("walk clip", "humanoid3d_walk.txt"),
    ("run", "humanoid3d_run.txt"),
    ("cartwheel", "humanoid3d_cartwheel.txt"),
    ("backflip", "humanoid3d_backflip.txt"),
];

const GAITS: [(Character, &str); 7] = [
    (Character::Humanoid, "walk"),
    (Character::Dog, "pace"),
    (Character::Dog, "trot"),
    (Character::Dog, "canter"),
    (Character::Snake36, "slither"),
    (Character::Snake72, "slither"),
    (Character::Snake195, "slither"),
];

/// All of them; those of the humanoid that are recorded only with a folder of DeepMimic's clips.
///
/// # Errors
/// When a clip cannot be read.
pub fn all(clips: Option<&Path>) -> Result<Vec<Subject>, Error> {
    let mut subjects = vec![Subject::gait(GAITS[0].0, GAITS[0].1)?];
    if let Some(folder) = clips {
        for (name, file) in CLIPS {
            subjects.push(Subject::clip(&folder.join(file), name)?);
        }
    }
    for (character, gait) in &GAITS[1..] {
        subjects.push(Subject::gait(*character, gait)?);
    }
    Ok(subjects)
}

/// The humanoid of figure 5: it runs if there is a folder of clips, and walks if not.
///
/// # Errors
/// When the clip cannot be read.
pub fn runner(clips: Option<&Path>) -> Result<Subject, Error> {
    match clips {
        Some(folder) => Subject::clip(&folder.join(CLIPS[1].1), CLIPS[1].0),
        None => Subject::gait(Character::Humanoid, "walk"),
    }
}

/// The paper's time step for a character, s.
pub fn time_step(character: Character) -> f64 {
    if character == Character::Dog { 1.0 / 240.0 } else { 1.0 / 30.0 }
}
