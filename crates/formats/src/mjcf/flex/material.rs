//! The material model of a soft body: MJCF has no attribute for it, and MuJoCo refuses those that it does not know, but leaves
//! `<custom>` to others.

use deformable::MaterialModel;

use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// What follows the name of a soft body in the name of the text that has its model.
pub(in super::super) const SUFFIX: &str = ".material";

/// Gives soft bodies the models that `<custom><text name="NAME.material" data="…"/></custom>` have for them.
pub(in super::super) fn choose(
    root: Element<'_>,
    mut models: Vec<(&str, &mut MaterialModel)>,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    for text in root.children_named("custom").flat_map(|custom| custom.children_named("text")) {
        let name = text.attribute("name").and_then(|name| name.strip_suffix(SUFFIX));
        let Some((name, data)) = name.zip(text.attribute("data")) else { continue };
        let model = data.parse::<MaterialModel>();
        match (models.iter_mut().find(|(of, _)| *of == name), model) {
            (Some((_, chosen)), model) => **chosen = model.map_err(|error| text.error(format!("data: {error}")))?,
            (None, Ok(_)) => warnings.add(text, &format!("no soft body is called {name:?}; it is ignored")),
            // Somebody else's text.
            (None, Err(_)) => {}
        }
    }
    Ok(())
}
