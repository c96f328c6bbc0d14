//! The tests of `cli` in one program, which is linked once. Beside it are those that want a process of their own.

mod bad_input;
mod bench;
mod characters;
mod common;
mod completions;
mod info;
mod json;
mod run;
mod scenes;
mod suggestions;
mod track;
mod view;
