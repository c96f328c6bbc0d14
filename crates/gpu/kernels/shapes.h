// Convex shapes of any kind as the narrow phase sees them: a core that a radius completes, in a frame common to a pair. A capsule is a segment
// with a radius. Between two shapes the first has the lower kind in the order of `Shape`.

#if OTHERS
// cos of the tilt up to which a cylinder's cap, not its side, faces a normal.
#define CAP R(0.70710678118654752)
// Vertices of a hull whose heights differ by less than this share of its radius are equally high.
#define LEVEL BY_PRECISION(1e-9, 1e-6)
// Hulls of fewer vertices are not walked over.
#define WALK_FROM 20
// Directions are told apart by the squares of a cube that they go through, so many along an edge.
#define SQUARES 8
// Steps from the middle of a cube's face to its border in which directions are rounded, and how deep inside a unit sphere a polytope of
// points at such directions is at most.
#define ROUNDED_STEPS 8
#define COARSENESS R(0.01)
// Numbers below this are zero where a direction is scaled.
#define TINY BY_PRECISION(1e-150, 1e-18)
// Corners of a flat feature: of a cylinder's cap there are eight.
#define CORNERS (LARGEST_FACE > 8 ? LARGEST_FACE : 8)
// Points of a pair before few are chosen.
#define POINTS (2 * CORNERS + 2)

// Where a shape is.
struct Frame { real rot[9]; V3 pos; };

// A shape of a pair, and how it moves in the step: what its centre does at the velocities with which the step begins, its rotation vector, and
// what forces change of both before contacts push.
struct Body {
  int shape, hull;
  V3 size, half, centre_within;
  Frame at;
  V3 centre, translation, rotation, change;
  real ball, rest_depth;
};
// How the material point that is at p at the beginning moves in the step, to first order.
FN V3 displacement(const Body& b, V3 p) { return b.translation + cross(b.rotation, p - b.centre); }

struct Placed {
  int shape, hull;
  V3 size;
  real radius;
  Frame at;
  V3 centre;
  bool is_coarse;
};

struct Points { int count; Point of[POINTS]; };
FN void add(Points& points, V3 position, V3 normal, real distance, real share = 1) {
  if (points.count < POINTS) points.of[points.count++] = Point{position, normal, distance, share};
}

FN V3 column(const Frame& at, int k) { return get3(at.rot + 3 * k); }
FN V3 place_in(const Frame& at, V3 p) { return turn(at.rot, p) + at.pos; }
FN V3 within(const Frame& at, V3 p) { return turn_back(at.rot, p - at.pos); }
FN V3 scaled(V3 a, V3 b) { return v3(a.x * b.x, a.y * b.y, a.z * b.z); }

FN Placed placed(const Body& body, const Frame& at, V3 origin) {
  Placed p{body.shape, body.hull, body.size, body.shape <= CAPSULE ? body.size.x : R(0), at, v3(0, 0, 0), false};
  p.at.pos = at.pos - origin;
  p.centre = body.shape == HULL ? place_in(p.at, body.centre_within) : p.at.pos;
  return p;
}
FN bool is_curved(const Placed& p) { return p.shape == ELLIPSOID || p.shape == CYLINDER; }

// The square of a cube that a direction goes through.
FN int square_of(V3 d) {
  V3 size = absolute(d);
  int side;
  real across, u, v;
  if (size.x >= size.y && size.x >= size.z) side = 0, across = d.x, u = d.y, v = d.z;
  else if (size.y >= size.z) side = 1, across = d.y, u = d.z, v = d.x;
  else side = 2, across = d.z, u = d.x, v = d.y;
  const real scale = R(0.5 * SQUARES) / max_(abs_(across), R(1e-30));
  const int i = (int)clamp_(u * scale + R(0.5 * SQUARES), 0, SQUARES - 1), j = (int)clamp_(v * scale + R(0.5 * SQUARES), 0, SQUARES - 1);
  return ((2 * side + (across < 0)) * SQUARES + i) * SQUARES + j;
}
#if HULLS
// The vertex of a hull that is farthest along a direction, by way of higher and higher ones.
CALLED int farthest_vertex(const Here here, int hull, V3 d) {
  const int first = hull_of(0, hull), count = hull_of(1, hull);
  int at = first;
  if (count < WALK_FROM) {
    real top = -INFINITE;
    ONCE for (int i = first; i < first + count; i++) {
      real height = dot(AT3(hull_vertex, i), d);
      if (height > top) top = height, at = i;
    }
    return at;
  }
  at = hull_start(hull_of(2, hull) + square_of(d));
  real top = dot(AT3(hull_vertex, at), d);
  ONCE for (;;) {
    int next = at;
    ONCE for (int k = vertex_range(0, at); k < vertex_range(1, at); k++) {
      const int j = hull_neighbour(k);
      real height = dot(AT3(hull_vertex, j), d);
      if (height > top) top = height, next = j;
    }
    if (next == at) return at;
    at = next;
  }
}
// Visits the faces around the vertices farthest along a unit vector, some of them more than once.
template <class Visit> FN void each_face_near(const Here here, int hull, V3 d, Visit visit) {
  const int vertex = farthest_vertex(here, hull, d);
  const real least = dot(AT3(hull_vertex, vertex), d) - LEVEL * hull_radius(hull);
  ONCE for (int k = vertex_range(0, vertex); k <= vertex_range(1, vertex); k++) {
    // Both ends of an edge that lies across the direction count, whichever round-off lifts.
    const int i = k < vertex_range(1, vertex) ? hull_neighbour(k) : vertex;
    if (!(dot(AT3(hull_vertex, i), d) >= least)) continue;
    ONCE for (int f = vertex_range(2, i); f < vertex_range(3, i); f++) visit(hull_face(f));
  }
}
#endif

// The point of the core farthest along d, or of a polytope inscribed in a curved one.
CALLED V3 support(const Here here, const Placed& p, V3 d) {
  if (p.shape == SPHERE) return p.at.pos;
  if (p.shape == CAPSULE) {
    V3 half = p.size.y * column(p.at, 2);
    return dot(half, d) > 0 ? p.at.pos + half : p.at.pos - half;
  }
#if FIELDS
  if (p.shape == TRIANGLE) {
    // Its corners stand in place of axes.
    V3 a = column(p.at, 0), b = column(p.at, 1), c = column(p.at, 2);
    real x = dot(a, d), y = dot(b, d), z = dot(c, d);
    return x >= y && x >= z ? a : y >= z ? b : c;
  }
#endif
  V3 l = turn_back(p.at.rot, d), found = p.size;
  if (p.shape == ELLIPSOID) {
    V3 s = scaled(l, p.size);
    real most = largest(absolute(s));
    if (p.is_coarse && most > TINY) s = v3(rounded(s.x * (ROUNDED_STEPS / most)), rounded(s.y * (ROUNDED_STEPS / most)), rounded(s.z * (ROUNDED_STEPS / most)));
    real length = norm(s);
    found = (length > TINY ? 1 / length : R(0)) * scaled(s, p.size);
  } else if (p.shape == CYLINDER) {
    real x = l.x, y = l.y, most = max_(abs_(x), abs_(y));
    if (p.is_coarse && most > TINY) x = rounded(x * (ROUNDED_STEPS / most)), y = rounded(y * (ROUNDED_STEPS / most));
    real across = sqrt_(x * x + y * y), scale = across > TINY ? p.size.x / across : R(0);
    found = v3(x * scale, y * scale, with_sign(p.size.y, l.z));
  } else if (p.shape == BOX) {
    found = v3(with_sign(p.size.x, l.x), with_sign(p.size.y, l.y), with_sign(p.size.z, l.z));
  } else {
#if HULLS
    found = AT3(hull_vertex, farthest_vertex(here, p.hull, l));
#endif
  }
  return place_in(p.at, found);
}

// The flat feature that faces the unit vector d: nothing for a rounded core. How many corners it has.
CALLED int feature(const Here here, const Placed& p, V3 d, V3* to) {
  V3 x = column(p.at, 0), y = column(p.at, 1), z = column(p.at, 2), pos = p.at.pos;
  if (p.shape == CAPSULE) {
    to[0] = pos + p.size.y * z, to[1] = pos - p.size.y * z;
    return 2;
  }
  if (FIELDS && p.shape == TRIANGLE) {
    to[0] = x, to[1] = y, to[2] = z;
    return 3;
  }
  if (p.shape == CYLINDER) {
    real slope = dot(z, d);
    if (abs_(slope) > CAP) {
      V3 centre = pos + with_sign(p.size.y, slope) * z, u = p.size.x * x, v = p.size.x * y, s = CAP * (u + v), t = CAP * (u - v);
      to[0] = centre + u, to[1] = centre + s, to[2] = centre + v, to[3] = centre - t;
      to[4] = centre - u, to[5] = centre - s, to[6] = centre - v, to[7] = centre + t;
      return 8;
    }
    V3 across = d - slope * z, foot = pos + (p.size.x / norm(across)) * across;
    to[0] = foot + p.size.y * z, to[1] = foot - p.size.y * z;
    return 2;
  }
  if (p.shape == BOX) {
    V3 l = turn_back(p.at.rot, d), size = absolute(l), face, u, v;
    x = p.size.x * x, y = p.size.y * y, z = p.size.z * z;
    if (size.x >= size.y && size.x >= size.z) face = with_sign(1, l.x) * x, u = y, v = z;
    else if (size.y >= size.z) face = with_sign(1, l.y) * y, u = z, v = x;
    else face = with_sign(1, l.z) * z, u = x, v = y;
    V3 centre = pos + face;
    to[0] = centre + u + v, to[1] = centre - u + v, to[2] = centre - u - v, to[3] = centre + u - v;
    return 4;
  }
#if HULLS
  if (p.shape == HULL) {
    V3 l = turn_back(p.at.rot, d);
    int best = -1;
    real most = -INFINITE;
    each_face_near(here, p.hull, l, [&](int face) {
      real cosine = dot(AT3(face_normal, face), l);
      if (cosine > most) best = face, most = cosine;
    });
    if (best < 0) return 0;
    const int first = face_range(0, best), count = face_range(1, best) - first;
    ONCE for (int k = 0; k < count; k++) to[k] = place_in(p.at, AT3(hull_vertex, hull_corner(first + k)));
    return count;
  }
#endif
  return 0;
}
#endif
