//! The section HIERARCHY.

use std::collections::BTreeMap;

use spatial::Vec3;

use super::Options;
use super::words::{Word, Words, is, unexpected};
use crate::{ReadError, Skeleton, SkeletonError, SkeletonJoint};

/// What a number of a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelOf {
    /// Moves along axis 0, 1 or 2 of the file.
    Position(usize),
    /// Turns about it.
    Rotation(usize),
}

const CHANNELS: [(&str, ChannelOf); 6] = [
    ("Xposition", ChannelOf::Position(0)),
    ("Yposition", ChannelOf::Position(1)),
    ("Zposition", ChannelOf::Position(2)),
    ("Xrotation", ChannelOf::Rotation(0)),
    ("Yrotation", ChannelOf::Rotation(1)),
    ("Zrotation", ChannelOf::Rotation(2)),
];

impl ChannelOf {
    /// As files write it.
    pub(super) fn name(self) -> &'static str {
        CHANNELS.iter().find(|(_, channel)| *channel == self).map_or("", |(name, _)| name)
    }
}

/// A joint as the file has it, in the file's axes and units.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub name: String,
    pub line: usize,
    pub parent: Option<usize>,
    pub offset: Vec3<f64>,
    pub ends: Vec<Vec3<f64>>,
    pub channels: Vec<ChannelOf>,
}

/// The joints, parents first.
pub(super) fn read(words: &mut Words) -> Result<Vec<Node>, ReadError> {
    words.keyword("HIERARCHY")?;
    let root = words.keyword("ROOT")?;
    let mut nodes = vec![open(words, root, None)?];
    let mut line_of = BTreeMap::from([(nodes[0].name.clone(), nodes[0].line)]);
    // The joints whose braces are open, the innermost last.
    let mut stack = vec![0];
    while let Some(&at) = stack.last() {
        let word = words.next("OFFSET, CHANNELS, JOINT, End Site or }")?;
        if is(word.text, "OFFSET") {
            nodes[at].offset = offset(words)?;
        } else if is(word.text, "CHANNELS") {
            nodes[at].channels = channels(words, word, &nodes[at])?;
        } else if is(word.text, "JOINT") {
            let node = open(words, word, Some(at))?;
            if let Some(line) = line_of.insert(node.name.clone(), node.line) {
                let message = format!("joint {:?}: line {line} has one of this name: expected another", node.name);
                return Err(words.error(node.line, message));
            }
            nodes.push(node);
            stack.push(nodes.len() - 1);
        } else if is(word.text, "End") {
            let end = end_site(words)?;
            nodes[at].ends.push(end);
        } else if word.text == "}" {
            stack.pop();
        } else {
            return Err(words.error(word.line, unexpected(word.text, "OFFSET, CHANNELS, JOINT, End Site or }")));
        }
    }
    Ok(nodes)
}

/// A joint's name (all that stands before the brace) and its opening brace.
fn open(words: &mut Words, keyword: Word, parent: Option<usize>) -> Result<Node, ReadError> {
    let mut name = String::new();
    loop {
        let word = words.next("a name and {")?;
        if word.text == "{" {
            break;
        }
        if word.line != keyword.line {
            return Err(words.error(word.line, unexpected(word.text, "{")));
        }
        // Some exporters leave no space before the brace.
        let (part, opened) = word.text.strip_suffix('{').map_or((word.text, false), |part| (part, true));
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(part);
        if opened {
            break;
        }
    }
    if name.is_empty() {
        return Err(words.error(keyword.line, format!("{} without a name: expected one", keyword.text)));
    }
    Ok(Node { name, line: keyword.line, parent, ..Node::default() })
}

fn offset(words: &mut Words) -> Result<Vec3<f64>, ReadError> {
    Ok(Vec3::new(words.number("OFFSET x")?, words.number("OFFSET y")?, words.number("OFFSET z")?))
}

fn channels(words: &mut Words, keyword: Word, node: &Node) -> Result<Vec<ChannelOf>, ReadError> {
    if !node.channels.is_empty() {
        return Err(words.error(keyword.line, format!("joint {:?}: second CHANNELS: expected one", node.name)));
    }
    let count = words.count("number of CHANNELS")?;
    let mut channels = Vec::new();
    for _ in 0..count {
        let word = words.next("a channel such as Zrotation")?;
        let Some(&(_, channel)) = CHANNELS.iter().find(|(name, _)| is(word.text, name)) else {
            let expected = "Xposition, Yposition, Zposition, Xrotation, Yrotation or Zrotation";
            return Err(words.error(word.line, format!("channel {}", unexpected(word.text, expected))));
        };
        if matches!(channel, ChannelOf::Position(_)) && channels.contains(&channel) {
            return Err(words.error(word.line, format!("channel {:?} twice: expected it once", word.text)));
        }
        channels.push(channel);
    }
    Ok(channels)
}

fn end_site(words: &mut Words) -> Result<Vec3<f64>, ReadError> {
    words.keyword("Site")?;
    // A name may stand here too.
    while words.peek().is_some_and(|w| w.text != "{" && !is(w.text, "OFFSET")) {
        words.next("{")?;
    }
    words.keyword("{")?;
    words.keyword("OFFSET")?;
    let end = offset(words)?;
    words.keyword("}")?;
    Ok(end)
}

/// The figure in our axes and metres.
pub(super) fn skeleton(nodes: &[Node], options: &Options) -> Result<Skeleton, SkeletonError> {
    let ours = |v: Vec3<f64>| options.axes.vector(v) * options.scale;
    let joint = |n: &Node| SkeletonJoint {
        name: n.name.clone(),
        parent: n.parent,
        offset: ours(n.offset),
        ends: n.ends.iter().map(|&e| ours(e)).collect(),
    };
    Skeleton::new(nodes.iter().map(joint).collect())
}
