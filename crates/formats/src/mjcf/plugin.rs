//! `<plugin>` of an element, and the instances in `<extension>` that it may refer to.

use crate::LoadError;
use crate::xml::Element;

/// A plugin and what it is set to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plugin<'a> {
    /// Such as `mujoco.pid`.
    pub name: &'a str,
    /// Has a `<config>` for each setting.
    settings: Element<'a>,
}

impl<'a> Plugin<'a> {
    /// What an element that names a plugin or an instance of one means; none where no `<extension>` of `root` has the instance.
    pub fn of(root: Element<'a>, element: Element<'a>) -> Option<Self> {
        let Some(wanted) = element.attribute("instance") else {
            return Some(Self { name: element.attribute("plugin")?, settings: element });
        };
        let plugins = root.children_named("extension").flat_map(|extension| extension.children_named("plugin"));
        let mut instances = plugins.flat_map(|plugin| plugin.children_named("instance").map(move |of| (plugin, of)));
        let (plugin, settings) = instances.find(|(_, of)| of.attribute("name") == Some(wanted))?;
        Some(Self { name: plugin.attribute("plugin")?, settings })
    }

    /// The setting of this name.
    pub fn setting(self, key: &str) -> Option<Element<'a>> {
        self.settings.children_named("config").find(|config| config.attribute("key") == Some(key))
    }

    /// The settings: elements with their keys and numbers.
    pub fn numbers(self) -> impl Iterator<Item = Result<Setting<'a>, LoadError>> {
        self.settings.children_named("config").filter_map(|at| {
            let value = at.number("value").transpose()?;
            Some(value.map(|value| Setting { at, key: at.attribute("key").unwrap_or_default(), value }))
        })
    }
}

/// A `<config>`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    /// The element.
    pub at: Element<'a>,
    /// Its name.
    pub key: &'a str,
    /// Its value.
    pub value: f64,
}
