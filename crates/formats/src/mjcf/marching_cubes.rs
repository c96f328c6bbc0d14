//! The surface on which a function is zero, in triangles: marching cubes (Lorensen and Cline 1987) with the triangles, the order and the
//! 32 bits of MarchingCubeCpp by Axel Paris (public domain), which MuJoCo uses.

use geometry::MeshSurface;
use spatial::Vec3;

use crate::mesh_files::TriangleSoup;

/// Points at equal distances in a box about the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Half the sides of the box.
    pub half: [f64; 3],
    /// Points along each side, at least two.
    pub counts: [usize; 3],
}

/// For each set of corners that are inside (bit x + 2 y + 4 z), the edges that the triangles have their corners on, in hexadecimal digits: four
/// edges along x, by y + 2 z, then four along y, by x + 2 z, and four along z, by x + 2 y.
const TRIANGLES: &str = "\
    - 048 509 495489 1a4 1801a8 1a4950 51a5a99a8 b15 5b1804 0b109b 14818bb89 a5ba45 05b0b88ba 40949aa9b 8ba89b 286 062046 950628 \
    295256654 41a286 a62a21120 0958621a4 61a621251295 28615b 604620b15 b09b10628 46162916919b 5a45ba286 2a625a5ba052 \
    286a9ba49409 2a629a9ba 927 048792 250275 827874475 1a4279 1801a8792 250275a41 827871175a81 b15279 0485b1279 7b1712210 \
    48242112717b a5ba45279 7928ba80b05b ba7a407a0702 7827b8ba8 879867 904947746 086065567 467475 7867981a4 79661a916901 \
    a41567506086 a51a65675 87986715b 15b746794904 08606bb6710b 17b147467 4ba45b698679 670ba0a605b0790 ba06707b0860a40 67b6ba 36a \
    a36048 36a095 94895436a 341364 680603301 341364950 958836538513 36a5b1 15b48036a 0b109b6a3 6a3b89b18148 b36b65564 \
    8368030b305b 6b360b09b406 6b368b89b 2a328a 4a3430032 a28a32509 34a394954293 841812213 013032 509213281841 529512132 \
    2a328a5b1 b150320434a3 38a32819b109 9b4324294a34b14 5b4428b24b32 b05b30320 3249b4b34094284 32939b 792a36 2796a3048 527502a36 \
    36a475487827 436413927 927301360680 164136075027 138758518278368 36a79215b 0486a379215b a362102717b1 36ab17127142482 \
    2795645b6b36 2798060360535b3 02b64b40b36b27b 6838b387b827 37939aa98 a04a30390379 8a0a370a7075 34a374754 184178798371 \
    937903013 758138378418508 137175 5b1a98a39379 15ba34304370790 8a7107087b17a37 37a74a7147b1 4539838437935b3 9070370b305b \
    08437b 7b3 73b 0483b7 5093b7 4954893b7 b7341a 81a80173b 1a4b73095 3b79a895a51a 173157 715731804 973930031 148187789317 \
    3a4347745 80aa7307a057 a40a03309397 3973a9a89 286b73 062046b73 2869503b7 b73654625295 3b7a41286 73b1201a2a62 1a48629503b7 \
    3b762a21a291951 173157862 246204357315 628031093973 469319149739629 8627457343a4 57a20a05a62a73a 2867393093a0a40 \
    2969a693a973 3923b9 3923b9480 b50b03302 54b482b42b23 93b92341a 0a801a2b923b 41a3023b0b50 235a858251a53b5 592521123 \
    804123152592 031023 814821231 3a4349945239 a852353a5925805 43a403023 23a2a8 63b6b88b9 63b6b00b9460 86383003b0b5 b63b56546 \
    1a48b986b63b 016b969063b61a6 1a450b03b083863 a616516b563b 985863583531 319469639049159 608630310 314346 983453593a43863 \
    3a6059 6383083403a4 3a6 6b76ab b6ab76048 6b76ab095 854895a76ab7 1b7174476 0680b6b761b0 9504764171b7 891761681b71951 \
    a15a56657 0486576a5a15 7696a1961910 7618919714816a1 476457 068056576 940974764 897876 72878bb8a b7aa0470a720 095b8ab78728 \
    ab25424a2952b72 4284121721b7 71b721201 0954181281b2b72 5191291721b7 872817157a18 20a57a72a15a04a 1078a7a17287097 14a297 \
    872847457 205257 842472497409 972 26a2a99ab 4809ab92a26a 26a2a55ab025 542ab2b526a2482 4166921961b9 b960161b6806926 \
    64b02b26b50b41b 2681b5 6a1612215259 0489252152616a1 a26a12102 a16126182148 259265645 058568526592 026064 268 8ab8b9 \
    4904a9ab9 0b508b8ab ab5a54 1841b8b98 01b0b9 1b4b84b08b50 b51 5a159a98a 4a0a90a59a15 10818a 14a 459498 590 084 -";

/// The surface, its sides towards points where the function is above 0.
pub(super) fn surface(grid: &Grid, function: impl Fn(Vec3<f64>) -> f64) -> TriangleSoup {
    let [nx, ny, nz] = grid.counts;
    let index = |[x, y, z]: [usize; 3]| (z * ny + y) * nx + x;
    let place = |k: f64, axis: usize| 2.0 * grid.half[axis] * k / (grid.counts[axis] - 1) as f64 - grid.half[axis];
    let points = (0..nx * ny * nz).map(|k| [k % nx, k / nx % ny, k / (nx * ny)]);
    let values: Vec<f32> =
        points.map(|p| function(Vec3::from([0, 1, 2].map(|axis| place(p[axis] as f64, axis)))) as f32).collect();
    let words: Vec<&str> = TRIANGLES.split(' ').collect();
    let mut soup = TriangleSoup { vertices: Vec::new(), triangles: Vec::new(), surface: MeshSurface::default() };
    // The vertex on the edge from each point along each axis.
    let mut on_edge = vec![[u32::MAX; 3]; values.len()];
    for [x, y, z] in (0..nz - 1).flat_map(|z| (0..ny - 1).flat_map(move |y| (0..nx - 1).map(move |x| [x, y, z]))) {
        let corner = |k: usize| [x + k % 2, y + k / 2 % 2, z + k / 4];
        let inside = (0..8).filter(|&k| values[index(corner(k))] < 0.0).map(|k| 1 << k).sum::<usize>();
        let edges = words[inside].as_bytes();
        if inside == 0 || inside == 255 {
            continue;
        }
        let mut vertex = |edge: u8| {
            let digit = (edge as char).to_digit(16).unwrap_or_default() as usize;
            let (axis, low, high) = (digit / 4, digit % 2, digit % 4 / 2);
            let start = corner([2 * low + 4 * high, low + 4 * high, low + 2 * high][axis]);
            let mut end = start;
            end[axis] += 1;
            let known = &mut on_edge[index(start)][axis];
            if *known == u32::MAX {
                let (a, b) = (values[index(start)], values[index(end)]);
                let mut at = start.map(|k| k as f32);
                at[axis] += a / (a - b);
                *known = soup.vertices.len() as u32;
                soup.vertices.push(Vec3::from([0, 1, 2].map(|axis| place(f64::from(at[axis]), axis))));
            }
            *known
        };
        soup.triangles.extend(edges.as_chunks::<3>().0.iter().map(|corners| corners.map(&mut vertex)));
    }
    soup
}
