//! A recorded figure's motion on another figure: joints by name, whatever axes, units and rest pose the file has.

use spatial::{Pose, Quat, Vec3};

use crate::{Axes, Channel, ChannelKind, Clip, JointValue, Posture, Skeleton};

/// Names that recordings give joints, with our names; of several that stand for one joint the first that the file has is taken.
const ALIASES: [(&str, &[&str]); 12] = [
    ("chest", &["chest", "spine1", "spine2", "torso", "abdomen", "spine"]),
    ("neck", &["neck", "neck1", "head"]),
    ("right_hip", &["rightupleg", "rightupperleg", "righthip", "rhip", "rthigh", "rightthigh"]),
    ("right_knee", &["rightknee", "rknee", "rightleg", "rightlowleg", "rightlowerleg", "rshin", "rightshin"]),
    ("right_ankle", &["rightankle", "rankle", "rightfoot", "rfoot"]),
    ("right_shoulder", &["rightarm", "rightupperarm", "rightuparm", "rupperarm", "rshoulder", "rightshoulder"]),
    ("right_elbow", &["rightelbow", "relbow", "rightforearm", "rightlowarm", "rightlowerarm", "rforearm"]),
    ("left_hip", &["leftupleg", "leftupperleg", "lefthip", "lhip", "lthigh", "leftthigh"]),
    ("left_knee", &["leftknee", "lknee", "leftleg", "leftlowleg", "leftlowerleg", "lshin", "leftshin"]),
    ("left_ankle", &["leftankle", "lankle", "leftfoot", "lfoot"]),
    ("left_shoulder", &["leftarm", "leftupperarm", "leftuparm", "lupperarm", "lshoulder", "leftshoulder"]),
    ("left_elbow", &["leftelbow", "lelbow", "leftforearm", "leftlowarm", "leftlowerarm", "lforearm"]),
];

/// Mean cosine between the bones of both figures below which axes are wrong, where others fit better by as much as [`CLEARLY`].
const ALIKE: f64 = 0.5;
const CLEARLY: f64 = 0.3;
/// A given scale may make the figure so many times as large or small as the model.
const MAX_SIZE: f64 = 3.0;

/// What a retargeting may assume, and how names meet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetargetOptions {
    /// The axes of the file; `None` for those in which its bones at rest point as the model's do.
    pub axes: Option<Axes>,
    /// Metres per unit of the file; `None` for that which makes its bones as long as the model's.
    pub scale: Option<f64>,
    /// Joints of the file with those of the model that they stand for, where names differ.
    pub rename: Vec<(String, String)>,
    /// Whether joints of the model that the file does not have stay at rest; otherwise they are an error.
    pub keep_unnamed: bool,
}

/// Why a recorded figure cannot be put on another.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RetargetError {
    /// A joint of `rename` that one of the figures does not have.
    #[error("rename {name:?}: {of} has no such joint; it has {known}")]
    Rename {
        /// The name.
        name: String,
        /// "the file" or "the model".
        of: &'static str,
        /// The names that there are.
        known: String,
    },
    /// Joints of the model that no joint of the file stands for.
    #[error(
        "the file has no joints for {missing} of the model: it has {known}; name those that stand for them (rename), or let these \
         stay at rest (keep unnamed)"
    )]
    Missing {
        /// The model's joints.
        missing: String,
        /// The file's joints.
        known: String,
    },
    /// Axes in which the figures do not stand alike.
    #[error(
        "in axes {given} the bone to joint {joint:?} points elsewhere than the model's (cosine {cosine:.2}): {hint}"
    )]
    Axes {
        /// The axes.
        given: &'static str,
        /// The joint whose bone differs most.
        joint: String,
        /// Between its bone and the model's.
        cosine: f64,
        /// Which axes fit.
        hint: String,
    },
    /// Units that make another size of it.
    #[error(
        "with scale {given} the bone to joint {joint:?} is {found:.3} m long, the model's {expected:.3} m: expected about {fits:.3} m \
         per unit of the file"
    )]
    Scale {
        /// The scale.
        given: f64,
        /// The joint of the longest bone.
        joint: String,
        /// Its length, m.
        found: f64,
        /// The model's, m.
        expected: f64,
        /// The scale that fits.
        fits: f64,
    },
    /// Bones without length.
    #[error("the bones of the file have no length: expected OFFSETs")]
    NoBones,
}

/// How joints of a recorded figure and of a model meet.
#[derive(Clone, Debug)]
pub struct Retarget {
    /// The axes of the file.
    pub axes: Axes,
    /// Metres per unit of the file.
    pub scale: f64,
    /// For every joint of the model's skeleton, the file's.
    matches: Vec<Option<usize>>,
    /// For every joint of the model's skeleton: turns its bone at rest to where the file's points.
    alignment: Vec<Quat<f64>>,
    /// For every joint, its nearest ancestor that the file has.
    ancestor: Vec<usize>,
}

/// A bone of both figures: the joint of the model at its end, from the model's, from the file's.
type Bone = (usize, Vec3<f64>, Vec3<f64>);

impl Retarget {
    /// Finds out how `file`, read in its own axes ([`Axes::ZUpXForward`]) and units, stands for `model`.
    ///
    /// # Errors
    /// When joints have no counterpart, or axes or scale are given that do not fit.
    pub fn new(file: &Skeleton, model: &Skeleton, options: &RetargetOptions) -> Result<Self, RetargetError> {
        let matches = match_joints(file, model, options)?;
        let ancestor = ancestors(model, &matches);
        let (at_file, at_model) = (file.rest_positions(), model.rest_positions());
        let bones: Vec<Bone> = (1..matches.len())
            .filter_map(|j| {
                let (own, parent) = (matches[j]?, matches[ancestor[j]].unwrap_or(0));
                Some((j, at_model[j] - at_model[ancestor[j]], at_file[own] - at_file[parent]))
            })
            .filter(|(_, model, file)| model.norm() > 0.0 && file.norm() > 0.0)
            .collect();
        let length = |pick: fn(&Bone) -> f64| bones.iter().map(pick).sum::<f64>();
        let (ours, theirs) = (length(|b| b.1.norm()), length(|b| b.2.norm()));
        if bones.is_empty() || theirs.is_nan() || theirs <= 0.0 {
            return Err(RetargetError::NoBones);
        }
        let axes = find_axes(&bones, model, options.axes)?;
        let scale = find_scale(&bones, model, options.scale, ours / theirs)?;
        let alignment = align(model, &matches, &ancestor, &at_model, &at_file, axes);
        Ok(Self { axes, scale, matches, alignment, ancestor })
    }

    /// The clip on the model's skeleton; `clip` is over the file's, read with [`Self::axes`] and [`Self::scale`].
    ///
    /// # Panics
    /// When the clip is one of another skeleton.
    pub fn apply(&self, clip: &Clip, file: &Skeleton, model: &Skeleton) -> Clip {
        let driven: Vec<usize> = (1..self.matches.len()).filter(|&j| self.matches[j].is_some()).collect();
        let name = |&j: &usize| Channel { name: model.joints()[j].name.clone(), kind: ChannelKind::Ball };
        let channels: Vec<Channel> = driven.iter().map(name).collect();
        let mut global = vec![Quat::IDENTITY; file.joints().len()];
        let mut pose = |posture: &Posture| {
            for (j, joint) in file.joints().iter().enumerate() {
                global[j] = match joint.parent {
                    Some(parent) => (global[parent] * posture.joints[j - 1].rotation(ChannelKind::Ball)).unit(),
                    None => posture.root.rot,
                };
            }
            let turned = |j: usize| global[self.matches[j].unwrap_or(0)] * self.alignment[j];
            let local = |&j: &usize| (turned(self.ancestor[j]).conjugate() * turned(j)).unit();
            let joints = driven.iter().map(|j| JointValue::Rotation(local(j))).collect();
            Posture { root: Pose::new(posture.root.pos, posture.root.rot), joints }
        };
        let frames = clip.frames().iter().map(&mut pose).collect();
        let times = clip.times().to_vec();
        Clip::new(clip.name(), channels, times, frames, clip.loop_mode())
            .expect("postures of a clip turned are postures")
    }

    /// Which joint of the file stands for each of the model's, where their names differ.
    pub fn renamed(&self, file: &Skeleton, model: &Skeleton) -> Vec<(String, String)> {
        let pairs = self.matches.iter().enumerate().skip(1).filter_map(|(j, own)| Some((j, (*own)?)));
        let names = pairs.map(|(j, own)| (file.joints()[own].name.clone(), model.joints()[j].name.clone()));
        names.filter(|(from, to)| from != to).collect()
    }
}

fn match_joints(
    file: &Skeleton,
    model: &Skeleton,
    options: &RetargetOptions,
) -> Result<Vec<Option<usize>>, RetargetError> {
    let mut matches = vec![None; model.joints().len()];
    matches[0] = Some(0);
    for (from, to) in &options.rename {
        let unknown = |name: &String, of, skeleton: &Skeleton| RetargetError::Rename {
            name: name.clone(),
            of,
            known: names(skeleton.joints().iter().map(|j| &*j.name)),
        };
        let own = file.joint(from).ok_or_else(|| unknown(from, "the file", file))?;
        let joint = model.joint(to).ok_or_else(|| unknown(to, "the model", model))?;
        matches[joint] = Some(own);
    }
    let theirs: Vec<String> = file.joints().iter().map(|j| plain(&j.name)).collect();
    for (j, joint) in model.joints().iter().enumerate().skip(1) {
        if matches[j].is_some() {
            continue;
        }
        let own = plain(&joint.name);
        let known = ALIASES.iter().find(|(name, _)| *name == joint.name).map_or(&[][..], |(_, known)| *known);
        let find = |wanted: &str| theirs.iter().position(|name| name == wanted).filter(|&k| k > 0);
        // A joint of the file stands for one of the model's.
        let free = |k: &usize| !matches.contains(&Some(*k));
        // Recordings have a collar bone "RightShoulder" and name the joint of the shoulder "RightArm": their names go before ours.
        let same = file.joint(&joint.name).filter(|&k| k > 0).filter(free);
        let alias = || known.iter().filter_map(|name| find(name)).find(free);
        matches[j] = same.or_else(alias).or_else(|| find(&own).filter(free));
    }
    let missing = model.joints().iter().zip(&matches).filter(|(_, own)| own.is_none()).map(|(j, _)| &*j.name);
    let missing: Vec<&str> = missing.collect();
    // A file of which nothing fits is a file of something else.
    if missing.len() == model.joints().len() - 1 || !(missing.is_empty() || options.keep_unnamed) {
        let known = names(file.joints().iter().map(|j| &*j.name));
        return Err(RetargetError::Missing { missing: names(missing.into_iter()), known });
    }
    Ok(matches)
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// Lower case, letters and digits only, without the prefix before a colon that some exporters write.
fn plain(name: &str) -> String {
    let name = name.rsplit(':').next().unwrap_or(name);
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn ancestors(model: &Skeleton, matches: &[Option<usize>]) -> Vec<usize> {
    let mut ancestor = vec![0; matches.len()];
    for j in 1..matches.len() {
        let parent = model.joints()[j].parent.unwrap_or(0);
        ancestor[j] = if matches[parent].is_some() { parent } else { ancestor[parent] };
    }
    ancestor
}

/// The mean cosine between bones in these axes, weighted by the model's lengths, and the bone that differs most.
fn likeness(bones: &[Bone], axes: Axes) -> (f64, (usize, f64)) {
    let (mut sum, mut weight, mut worst) = (0.0, 0.0, (0, f64::INFINITY));
    for (joint, model, file) in bones {
        let (length, cosine) = (model.norm(), model.dot(axes.vector(*file)) / (model.norm() * file.norm()));
        sum += length * cosine;
        weight += length;
        if cosine < worst.1 {
            worst = (*joint, cosine);
        }
    }
    (sum / weight, worst)
}

fn find_axes(bones: &[Bone], model: &Skeleton, given: Option<Axes>) -> Result<Axes, RetargetError> {
    let alike = |axes: Axes| likeness(bones, axes).0;
    let best = Axes::ALL.into_iter().max_by(|a, b| alike(*a).total_cmp(&alike(*b))).unwrap_or_default();
    let axes = given.unwrap_or(best);
    let (mean, (joint, cosine)) = likeness(bones, axes);
    if mean < ALIKE && (given.is_none() || alike(best) > mean + CLEARLY) {
        let hint = if alike(best) >= ALIKE {
            format!("expected {}, in which they point alike", best.name())
        } else {
            "and in no others do they: expected a figure that stands upright at rest, as the model does".into()
        };
        let joint = model.joints()[joint].name.clone();
        return Err(RetargetError::Axes { given: axes.name(), joint, cosine, hint });
    }
    Ok(axes)
}

fn find_scale(bones: &[Bone], model: &Skeleton, given: Option<f64>, fits: f64) -> Result<f64, RetargetError> {
    let Some(given) = given else { return Ok(fits) };
    let size = given / fits;
    if (1.0 / MAX_SIZE..=MAX_SIZE).contains(&size) {
        return Ok(given);
    }
    let longest = bones.iter().max_by(|a, b| a.1.norm().total_cmp(&b.1.norm()));
    let (joint, ours, theirs) = longest
        .map_or(("", 0.0, 0.0), |(j, model_bone, file)| (&*model.joints()[*j].name, model_bone.norm(), file.norm()));
    Err(RetargetError::Scale { given, joint: joint.into(), found: given * theirs, expected: ours, fits })
}

/// For every joint that has exactly one driven joint below it, the turn of the model's bone at rest to the file's; the others turn as
/// their parents do, and the root not at all.
fn align(
    model: &Skeleton,
    matches: &[Option<usize>],
    ancestor: &[usize],
    at_model: &[Vec3<f64>],
    at_file: &[Vec3<f64>],
    axes: Axes,
) -> Vec<Quat<f64>> {
    let mut alignment = vec![Quat::IDENTITY; matches.len()];
    for j in 1..matches.len() {
        let inherited = alignment[ancestor[j]];
        alignment[j] = inherited;
        let Some(own) = matches[j] else { continue };
        let mut below = (j + 1..matches.len()).filter(|&k| matches[k].is_some() && ancestor[k] == j);
        let (Some(child), None) = (below.next(), below.next()) else { continue };
        let Some(end) = matches[child] else { continue };
        let (from, to) = (inherited * (at_model[child] - at_model[j]), axes.vector(at_file[end] - at_file[own]));
        alignment[j] = (arc(from, to) * inherited).unit();
    }
    debug_assert_eq!(alignment.len(), model.joints().len());
    alignment
}

/// The shortest rotation that takes the direction of `a` to that of `b`; none if one has no direction.
fn arc(a: Vec3<f64>, b: Vec3<f64>) -> Quat<f64> {
    let (Some(a), Some(b)) = (a.normalized(), b.normalized()) else { return Quat::IDENTITY };
    let (axis, cosine) = (a.cross(b), a.dot(b));
    let angle = libm::atan2(axis.norm(), cosine);
    match axis.normalized() {
        Some(axis) => Quat::from_axis_angle(axis, angle),
        // Opposite: about any axis across.
        None if cosine < 0.0 => {
            let across = if a.x.abs() < 0.9 { Vec3::new(1.0, 0.0, 0.0) } else { Vec3::new(0.0, 1.0, 0.0) };
            a.cross(across)
                .normalized()
                .map_or(Quat::IDENTITY, |axis| Quat::from_axis_angle(axis, std::f64::consts::PI))
        }
        None => Quat::IDENTITY,
    }
}
