//! What cases are made from.

use std::fs;
use std::path::{Path, PathBuf};

use models::characters::{self, Character};
use models::scenes;
use support::SplitMix64;

/// A model file.
pub struct Seed {
    /// Its text.
    pub text: String,
    /// Where the files lie that it refers to.
    pub folder: Option<PathBuf>,
}

/// Model files: those that the project writes itself, hostile ones, and those of packages.
pub struct Corpus {
    own: Vec<Seed>,
    packaged: Vec<Seed>,
}

const SCENES: [&str; 12] = [
    "clutter-box-8",
    "clutter-sphere-8",
    "tower-4",
    "arch-7",
    "cards-2",
    "four-bar",
    "stewart",
    "arm7",
    "double-pendulum",
    "spring-chain-5",
    "spinning-top",
    "rolling-ball",
];

/// Files that have broken readers: every kind of element, and what costs more than it seems.
const HOSTILE: [&str; 9] = [
    include_str!("../seeds/linkage.xml"),
    include_str!("../seeds/shapes.xml"),
    include_str!("../seeds/robot.urdf"),
    include_str!("../seeds/world.sdf"),
    "<!DOCTYPE m [<!ENTITY a \"xxxxxxxx\"><!ENTITY b \"&a;&a;&a;&a;\">]><mujoco model=\"&b;&b;\"><option timestep=\"0.01\"/></mujoco>",
    "<mujoco><worldbody><replicate count=\"3\" offset=\"1 0 0\" sep=\"-\"><replicate count=\"2\" offset=\"0 1 0\"><body name=\"a\">\
     <freejoint/><geom size=\".1\"/></body></replicate></replicate></worldbody></mujoco>",
    "<mujoco><default><geom size=\"1\"/><default class=\"a\"><joint damping=\"1\"/><default class=\"b\"><geom density=\"9\"/></default>\
     </default></default><worldbody><body childclass=\"b\"><joint/><geom/></body></worldbody></mujoco>",
    "<mujoco><asset><hfield name=\"h\" nrow=\"3\" ncol=\"3\" elevation=\"0 1 0 1 2 1 0 1 0\" size=\"1 1 .5 .1\"/></asset><worldbody>\
     <geom type=\"hfield\" hfield=\"h\"/><body pos=\"0 0 .6\"><freejoint/><geom type=\"box\" size=\".1 .2 .3\"/></body></worldbody></mujoco>",
    "<mujoco><worldbody><body><freejoint/><geom size=\".1\"/></body><body><freejoint/><geom size=\".1\"/></body><body><freejoint/>\
     <geom type=\"box\" size=\".1 .1 .1\"/></body></worldbody></mujoco>",
];

/// Model files of packages above this size take long and show nothing that smaller ones do not, bytes.
const MAX_PACKAGED: u64 = 60_000;

impl Corpus {
    /// With the model files below `packages`, if there are any.
    pub fn new(packages: &Path) -> Self {
        let seed = |text: String| Seed { text, folder: None };
        let options = characters::Options { ground: true, self_collision: true };
        let mut own: Vec<Seed> = HOSTILE.iter().map(|text| seed((*text).into())).collect();
        own.extend(Character::ALL.iter().take(3).map(|&character| seed(characters::mjcf(character, &options))));
        own.extend(SCENES.iter().filter_map(|name| Some(seed(scenes::mjcf(name.parse().ok()?)))));
        Self { own, packaged: packaged(packages) }
    }

    /// One of them.
    pub fn model(&self, random: &mut SplitMix64) -> &Seed {
        if self.packaged.is_empty() || random.below(2) == 0 {
            &self.own[random.below(self.own.len())]
        } else {
            &self.packaged[random.below(self.packaged.len())]
        }
    }

    /// One of those that come with the project.
    pub fn own_model(&self, random: &mut SplitMix64) -> &Seed {
        &self.own[random.below(self.own.len())]
    }
}

/// Model files in a folder and those below it, in the order of their names.
fn packaged(folder: &Path) -> Vec<Seed> {
    let (mut folders, mut paths) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_model = path.extension().is_some_and(|e| e == "xml" || e == "urdf" || e == "mjcf");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && is_model => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let is_small = fs::metadata(&path).is_ok_and(|metadata| metadata.len() < MAX_PACKAGED);
        let text = if is_small { fs::read_to_string(&path).ok()? } else { return None };
        let is_model = text.contains("<mujoco") || text.contains("<robot");
        is_model.then(|| Seed { text, folder: path.parent().map(Path::to_path_buf) })
    };
    paths.into_iter().filter_map(read).collect()
}

/// A figure of three bones that moves.
pub fn bvh() -> String {
    "HIERARCHY\nROOT root {\n OFFSET 0 90 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n \
     JOINT chest {\n OFFSET 0 10 0\n CHANNELS 3 Zrotation Xrotation Yrotation\n JOINT neck {\n OFFSET 0 9 0\n \
     CHANNELS 3 Zrotation Xrotation Yrotation\n End Site { OFFSET 0 9 0 } } }\n JOINT left_hip { OFFSET 5 0 0 CHANNELS 6 \
     Xposition Yposition Zposition Zrotation Xrotation Yrotation End Site { OFFSET 0 -90 0 } } }\nMOTION\nFrames: 3\n\
     Frame Time: 0.5\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n0 0 50 0 0 0 0 -90 0 1 2 3 5 0 0 4 5 6\n\
     0 1 60 10 20 30 40 -90 0 1 2 3 5 0 0 4 5 6\n"
        .into()
}

/// A few frames of the humanoid.
pub fn deepmimic(random: &mut SplitMix64) -> String {
    let frame = |_| {
        let mut row: Vec<String> = vec!["0.1".into()];
        row.extend(random.vector(43, 1.0).iter().map(|x| format!("{x:.3}")));
        format!("[{}]", row.join(", "))
    };
    let frames: Vec<String> = (0..4).map(frame).collect();
    format!("{{\"Loop\": \"wrap\", \"Frames\": [\n{}\n]}}", frames.join(",\n"))
}
