"""Sphinx, as `cargo xtask docs` runs it."""

import sys
from pathlib import Path

PYTHON = Path(__file__).parents[1] / "python"
sys.path.append(str(PYTHON))

from documentation.stub import replace_compiled_module  # noqa: E402

replace_compiled_module()

project = "Sapwood"
author = "The Sapwood authors"
extensions = [
    "sphinx.ext.autodoc",
    "documentation.sphinx_extension",
    "myst_nb",
    "sphinx_copybutton",
]
# The list of design notes is a page of its own here, appendix/design.md.
exclude_patterns = ["design/README.md"]

myst_enable_extensions = ["colon_fence"]
autodoc_mock_imports = ["viser"]
myst_heading_anchors = 4
# Notebooks are run once, and again when they or the package change.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = "Sapwood"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
copybutton_prompt_text = r"^(>>> |\$ )"
copybutton_prompt_is_regexp = True
