//! The sapwood Python package.
