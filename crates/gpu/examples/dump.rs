use gpu::*;
use sapwood_gpu as gpu;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let loaded = formats::load(std::path::Path::new(&path), &formats::LoadOptions::default()).unwrap();
    let plan = sim::plan(&loaded.model, &loaded.scene, &sim::Options::default(), None).unwrap();
    for precision in [Precision::F64, Precision::F32] {
        let source = Source::new(&plan, precision, None).unwrap();
        println!("{:?}", source.layout);
        let kernels = HostKernels::new(&source.text, Order::Forwards);
        match kernels {
            Ok(k) => println!("world {} B", k.world_size()),
            Err(e) => println!("{e}"),
        }
    }
}
