//! Which link hangs on which.

use std::collections::BTreeMap;

use crate::LoadError;
use crate::xml::Element;

/// The links and joints of a robot, checked to be a tree.
pub(super) struct Tree<'a> {
    /// Links in the order of the file.
    pub links: Vec<Link<'a>>,
    /// Joints in the order of the file.
    pub joints: Vec<Joint<'a>>,
    /// Indices of the links, depth first: a link, then all below its first joint, then all below its second, …
    pub order: Vec<usize>,
    link_of: BTreeMap<&'a str, usize>,
    joint_of: BTreeMap<&'a str, usize>,
}

/// A link.
pub(super) struct Link<'a> {
    /// `<link>`.
    pub element: Element<'a>,
    /// The joint that it hangs on; `None` at the root.
    pub parent: Option<usize>,
    children: Vec<usize>,
}

/// A joint.
pub(super) struct Joint<'a> {
    /// `<joint>`.
    pub element: Element<'a>,
    /// The link above it.
    pub parent: usize,
    child: usize,
}

impl<'a> Tree<'a> {
    /// Reads the names of all links and joints and who hangs on whom.
    pub fn read(robot: Element<'a>) -> Result<Self, LoadError> {
        let mut tree = Tree {
            links: Vec::new(),
            joints: Vec::new(),
            order: Vec::new(),
            link_of: BTreeMap::new(),
            joint_of: BTreeMap::new(),
        };
        for element in robot.children_named("link") {
            insert(&mut tree.link_of, element, tree.links.len())?;
            tree.links.push(Link { element, parent: None, children: Vec::new() });
        }
        for element in robot.children_named("joint") {
            tree.add_joint(element)?;
        }
        let root = tree.root(robot)?;
        tree.walk(root);
        if tree.order.len() < tree.links.len() {
            return Err(tree.cycle());
        }
        Ok(tree)
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<&Link<'a>> {
        self.link_of.get(name).map(|&i| &self.links[i])
    }

    /// The joint of this name.
    pub fn joint(&self, name: &str) -> Option<&Joint<'a>> {
        self.joint_of.get(name).map(|&i| &self.joints[i])
    }

    fn add_joint(&mut self, element: Element<'a>) -> Result<(), LoadError> {
        let index = self.joints.len();
        insert(&mut self.joint_of, element, index)?;
        let parent = self.end(element, "parent")?;
        let child = self.end(element, "child")?;
        if let Some(other) = self.links[child].parent {
            let (name, line) = (name(self.links[child].element)?, self.joints[other].element.line());
            let message = format!("link {name:?} is already the child of the joint at line {line}: expected a tree");
            return Err(element.error(message));
        }
        self.links[child].parent = Some(index);
        self.links[parent].children.push(index);
        self.joints.push(Joint { element, parent, child });
        Ok(())
    }

    /// The link that `<parent>` or `<child>` names.
    fn end(&self, joint: Element<'a>, which: &str) -> Result<usize, LoadError> {
        let end = joint.child(which);
        let end = end.ok_or_else(|| joint.error(format!("no <{which}>: expected <{which} link=\"…\"/>")))?;
        let name = end.required("link")?;
        let found = self.link_of.get(name).copied();
        found.ok_or_else(|| end.error(format!("link=\"{name}\": expected the name of a link of this robot")))
    }

    fn root(&self, robot: Element<'a>) -> Result<usize, LoadError> {
        if self.links.is_empty() {
            return Err(robot.error("no <link>: expected at least one"));
        }
        let mut roots = (0..self.links.len()).filter(|&i| self.links[i].parent.is_none());
        let Some(root) = roots.next() else {
            return Err(self.cycle());
        };
        if let Some(other) = roots.next() {
            let (first, second) = (name(self.links[root].element)?, self.links[other].element);
            let second_name = name(second)?;
            let message = format!("no joint leads to links {first:?} and {second_name:?}: expected one root link");
            return Err(second.error(message));
        }
        Ok(root)
    }

    fn walk(&mut self, root: usize) {
        let mut stack = vec![root];
        while let Some(link) = stack.pop() {
            self.order.push(link);
            stack.extend(self.links[link].children.iter().rev().map(|&j| self.joints[j].child));
        }
    }

    /// The error for links that the walk did not reach: going from parent to parent from any of them never ends.
    fn cycle(&self) -> LoadError {
        let mut reached = vec![false; self.links.len()];
        self.order.iter().for_each(|&i| reached[i] = true);
        let mut link = reached.iter().position(|r| !r).unwrap_or_default();
        // The first link that comes twice lies on the cycle.
        while !reached[link] {
            reached[link] = true;
            link = self.links[link].parent.map_or(link, |j| self.joints[j].parent);
        }
        let element = self.links[link].element;
        let name = element.attribute("name").unwrap_or_default();
        element.error(format!("link {name:?} hangs on itself by a cycle of joints: expected a tree"))
    }
}

fn name<'a>(element: Element<'a>) -> Result<&'a str, LoadError> {
    element.required("name")
}

fn insert<'a>(names: &mut BTreeMap<&'a str, usize>, element: Element<'a>, index: usize) -> Result<(), LoadError> {
    let name = name(element)?;
    match names.insert(name, index) {
        None => Ok(()),
        Some(_) => Err(element.error(format!("name=\"{name}\" is taken: expected different names"))),
    }
}
