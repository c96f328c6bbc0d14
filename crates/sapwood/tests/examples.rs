//! Every example runs: each checks itself.

macro_rules! examples {
    ($($name:ident $path:literal),* $(,)?) => {
        $(
            #[path = $path]
            mod $name;

            #[test]
            fn $name() {
                $name::main().expect("the example runs to its end");
            }
        )*

        const COUNT: usize = [$($path),*].len();
    };
}

examples!(
    hello "../examples/hello.rs",
    robot_from_file "../examples/robot_from_file.rs",
    model_in_code "../examples/model_in_code.rs",
    pd "../examples/pd.rs",
    contact_forces "../examples/contact_forces.rs",
    midpoint_energy "../examples/midpoint_energy.rs",
    lqr "../examples/lqr.rs",
    own_contact_problem "../examples/own_contact_problem.rs",
    batch_on_threads "../examples/batch_on_threads.rs",
    many_worlds "../examples/many_worlds.rs",
    trajectory "../examples/trajectory.rs",
);

/// An example that is not in the list would not run.
#[test]
fn all_are_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    assert_eq!(std::fs::read_dir(folder).expect("the folder of examples is there").count(), COUNT);
}
