"""How the documentation site is made: pictures, and what Sphinx has to know about the package."""
