// The axis along which two convex bodies are kept apart in a step: as long as one axis separates them they do not overlap. What slides over a floor
// of boxes comes nearest to the edge between the side and the top of the next box, and a constraint along that direction would stop it there,
// although it passes above. So the axis is taken that is the last to lose its gap at the velocities with which the step begins (Eberly,
// Intersection of Convex Objects: The Method of Separating Axes). Candidates are the normals of contact points and of flat faces; for bodies that
// move far for their size also those on the way.

#if OTHERS
// Bodies that approach by less than this in a step are taken not to approach, m.
#define APPROACH BY_PRECISION(1e-8, 1e-6)
// Bodies that overlap by up to this share of their size, or of a body's least half extent, along an axis count as separated by it.
#define EDGE_RADIUS R(1e-3)
#define THIN_EDGE_RADIUS R(0.05)
// Bodies are looked at that would meet within this many steps.
#define HORIZON R(1.5)
// Two unit vectors with a cosine above this are one axis; between polyhedra; of contact points.
#define SAME BY_PRECISION(1.0 - 1e-12, 1.0 - 1e-6)
#define SAME_FACE R(1.0 - 1.5e-4)
#define ALIKE R(1.0 - 1e-6)
// Polyhedra that approach by less than this share of the smaller one's radius in a step creep.
#define CREEP R(5e-5)
// Directions that are looked at on the way at most; bodies have arrived when another shows no gap for longer by more than this part of the step.
#define MAX_ADVANCES 32
#define ARRIVED BY_PRECISION(1e-6, 1e-4)

FN bool is_polyhedron(const Body& b) { return b.shape >= BOX; }
FN bool has_faces(const Body& b) { return b.shape >= CYLINDER; }
// The rotation of its shape in the part t of the step. A shape of revolution does not change when it spins about its axis.
FN void turned(const Body& b, real t, real* m) {
  V3 by = t * b.rotation, z = column(b.at, 2);
  if (b.shape == SPHERE) by = v3(0, 0, 0);
  if (b.shape == CAPSULE || b.shape == CYLINDER) by = by - dot(by, z) * z;
  to_matrix(rotation(by), m);
}
FN Frame frame_at(const Body& b, real t) {
  real m[9];
  Frame f;
  turned(b, t, m);
  for (int k = 0; k < 3; k++) put3(f.rot + 3 * k, turn(m, column(b.at, k)));
  f.pos = b.centre + t * b.translation + turn(m, b.at.pos - b.centre);
  return f;
}
FN real edge_radius(const Body& b) {
  return min_(EDGE_RADIUS * b.ball, THIN_EDGE_RADIUS * min_(b.half.x, min_(b.half.y, b.half.z)));
}
FN real approach_of(const Body& a, const Body& b, V3 position, V3 normal) {
  return dot(displacement(a, position) - displacement(b, position), normal);
}

// An axis that separates two bodies: unit vector from the first body to the second at the beginning of the step, where it comes from, the gap along
// it at the end of the step, and the part of the step after which it is lost: infinite where the bodies do not approach, below zero where there is
// none.
enum Origin { FOUND, OF_FIRST, OF_SECOND, ON_WAY };
struct SeparatingAxis { V3 normal; Origin origin; real way, end, time; };
FN bool lasts_longer(const SeparatingAxis& a, const SeparatingAxis& b) {
  return a.time > b.time || (a.time == INFINITE && b.time == a.time && a.end > b.end + APPROACH);
}

// Two bodies at the beginning and at the end of a step.
struct Meeting {
  const Body *a, *b;
  Placed begin[2], end[2];
  real margin, tolerance, same;
};
FN real separation(const Here here, const Placed* of, V3 n) {
  V3 apart;
  return gap_along(here, of[0], of[1], n, apart) - of[0].radius - of[1].radius;
}
CALLED SeparatingAxis axis_of(const Here here, const Meeting& m, V3 normal, Origin origin, real way) {
  V3 at_end = normal;
  if (origin == OF_FIRST || origin == OF_SECOND) {
    const int k = origin == OF_SECOND;
    at_end = turn(m.end[k].at.rot, turn_back(m.begin[k].at.rot, normal));
  }
  real begin = separation(here, m.begin, normal) - m.margin, end = separation(here, m.end, at_end) - m.margin;
  real room = begin + m.tolerance, approach = begin - end;
  real time = !(room >= 0) ? R(-1) : approach <= APPROACH ? INFINITE : room / approach;
  return SeparatingAxis{normal, origin, way, end, time};
}
// Visits outward normals of flat faces: of a box and a cylinder those on the side of `toward`, of a hull those around the vertices that are
// farthest along `facing`, a unit vector in its own frame.
template <class Visit> FN void each_face(const Here here, const Body& b, V3 toward, V3 facing, Visit visit) {
  V3 z = column(b.at, 2);
  if (b.shape == BOX)
    ONCE for (int k = 0; k < 3; k++) {
      V3 axis = column(b.at, k);
      visit(with_sign(1, dot(axis, toward)) * axis);
    }
  if (b.shape == CYLINDER) visit(with_sign(1, dot(z, toward)) * z);
#if HULLS
  if (b.shape == HULL) each_face_near(here, b.hull, facing, [&](int face) { visit(turn(b.at.rot, AT3(face_normal, face))); });
#endif
}
// Takes faces in place of `best` that separate for longer; `normal` is that of the nearest points where the bodies are at `at`, `bt`.
CALLED void try_faces(const Here here, const Meeting& m, V3 normal, const Frame& at, const Frame& bt, SeparatingAxis& best) {
  V3 toward = m.begin[1].centre - m.begin[0].centre;
  ONCE for (int k = 0; k < 2; k++) {
    const real sign = k ? R(-1) : R(1);
    each_face(here, k ? *m.b : *m.a, sign * toward, turn_back(k ? bt.rot : at.rot, sign * normal), [&](V3 outward) {
      V3 n = sign * outward;
      if (!(dot(n, best.normal) < m.same)) return;
      SeparatingAxis axis = axis_of(here, m, n, k ? OF_SECOND : OF_FIRST, 0);
      if (lasts_longer(axis, best)) best = axis;
    });
  }
}

// Where at the beginning of the step a contact point is that is at `position` after the part t of it, midway along the normal, beside the point of
// the body that moves more; and by how much its gap is larger there.
CALLED real pull_back(const Body& a, const Body& b, real t, V3& position, V3 normal) {
  V3 p[2], d[2];
  ONCE for (int k = 0; k < 2; k++) {
    const Body& body = k ? b : a;
    real m[9];
    turned(body, t, m);
    p[k] = body.centre + turn_back(m, position - (body.centre + t * body.translation));
    d[k] = t * displacement(body, p[k]);
  }
  const real moves = norm(d[1]), other = norm(d[0]), share = moves + other > 0 ? moves / (moves + other) : R(0.5);
  const real change = dot(d[0] - d[1], normal);
  V3 first = p[0] + (R(0.5) * change) * normal, second = p[1] - (R(0.5) * change) * normal;
  position = first + share * (second - first);
  return change;
}

// The contact points of the bodies along the normal of a face of one, where they lie when its gap is lost, or at the end of the step.
CALLED void report_face(const Here here, const Body& a, const Body& b, const SeparatingAxis& axis, real limit, Points& to) {
  const real t = min_(axis.time, R(1));
  const int k = axis.origin == OF_SECOND;
  const Frame at = frame_at(a, t), bt = frame_at(b, t);
  const V3 origin = a.at.pos;
  Placed p = placed(a, at, origin), q = placed(b, bt, origin);
  V3 normal = turn(k ? bt.rot : at.rot, turn_back(k ? b.at.rot : a.at.rot, axis.normal));
  V3 on_a = support(here, p, normal) + p.radius * normal, on_b = support(here, q, -normal) - q.radius * normal;
  const real distance = dot(on_b - on_a, normal);
  // The point of the body whose face it is not.
  V3 position = k == 0 ? on_b - (R(0.5) * distance) * normal : on_a + (R(0.5) * distance) * normal;
  to.count = 0;
  clip_features(here, p, q, position, normal, INFINITE, to);
  const bool is_round = (k == 0 ? q : p).shape == CYLINDER;
  if (to.count == 0 || (is_round && deepest_of(to) > distance + APPROACH)) add(to, position, normal, distance);
  spread(to, normal);
  int kept = 0;
  ONCE for (int i = 0; i < to.count; i++) {
    Point point = to.of[i];
    point.position = point.position + origin;
    point.distance += pull_back(a, b, t, point.position, normal);
    if (point.distance <= limit) to.of[kept++] = point;
  }
  to.count = kept;
  add_middle(a.shape, b.shape, to);
}

// Tries the direction of the nearest points, and faces, where the bodies are after the part t of the step; whether there are any within reach.
CALLED bool try_way(const Here here, const Meeting& m, real t, real limit, SeparatingAxis& best) {
  Points found;
  const Frame at = frame_at(*m.a, t), bt = frame_at(*m.b, t);
  collide_bodies(here, *m.a, at, *m.b, bt, limit, found);
  if (found.count == 0) return false;
  int nearest = 0;
  ONCE for (int i = 1; i < found.count; i++)
    if (found.of[i].distance < found.of[nearest].distance) nearest = i;
  V3 normal = found.of[nearest].normal;
  SeparatingAxis axis = axis_of(here, m, normal, ON_WAY, t);
  if (lasts_longer(axis, best)) best = axis;
  try_faces(here, m, normal, at, bt, best);
  return true;
}

// Whether more than one axis separates the bodies at the beginning of the step.
FN bool may_be_separated_otherwise(const Here here, const Meeting& m, const Points& points) {
  V3 normal = points.of[0].normal;
  bool is_found = false;
  ONCE for (int i = 1; i < points.count; i++) is_found |= dot(points.of[i].normal, normal) < m.same;
  const real least = m.margin - m.tolerance;
  V3 toward = m.begin[1].centre - m.begin[0].centre;
  ONCE for (int k = 0; k < 2 && !is_found; k++) {
    const real sign = k ? R(-1) : R(1);
    const Body& body = k ? *m.b : *m.a;
    each_face(here, body, sign * toward, turn_back(body.at.rot, sign * normal), [&](V3 outward) {
      V3 face = sign * outward;
      is_found = is_found || (dot(face, normal) < m.same && separation(here, m.begin, face) >= least);
    });
  }
  return is_found;
}

// Replaces the contact points of two bodies where another axis separates them for longer than theirs.
CALLED void separate(const Here here, const Body& a, const Body& b, real limit, real margin, Points& points) {
  const real radius = min_(a.ball, b.ball), far = FAR * radius;
  const bool are_polyhedra = is_polyhedron(a) && is_polyhedron(b);
  const real least = are_polyhedra ? CREEP * radius : has_faces(a) || has_faces(b) ? APPROACH : far;
  const real change = norm(b.change - a.change);
  real most = 0;
  bool is_met = false;
  ONCE for (int i = 0; i < points.count; i++) {
    real approach = approach_of(a, b, points.of[i].position, points.of[i].normal);
    if (approach > least) most = max_(most, approach), is_met |= points.of[i].distance - margin < HORIZON * (approach + change);
  }
  if (!is_met) return;
  Meeting m;
  m.a = &a, m.b = &b, m.margin = margin, m.same = are_polyhedra ? SAME_FACE : SAME;
  m.tolerance = min_(edge_radius(a), edge_radius(b)) + a.rest_depth + b.rest_depth;
  m.begin[0] = placed(a, a.at, a.at.pos), m.begin[1] = placed(b, b.at, a.at.pos);
  const bool is_far = most > far;
  if (!is_far && !may_be_separated_otherwise(here, m, points)) return;
  m.end[0] = placed(a, frame_at(a, 1), a.at.pos), m.end[1] = placed(b, frame_at(b, 1), a.at.pos);
  SeparatingAxis best = axis_of(here, m, points.of[0].normal, FOUND, 0);
  ONCE for (int i = 1; i < points.count; i++)
    if (dot(points.of[i].normal, best.normal) < m.same) {
      SeparatingAxis axis = axis_of(here, m, points.of[i].normal, FOUND, 0);
      if (lasts_longer(axis, best)) best = axis;
    }
  if (best.time < 0) return;
  try_faces(here, m, best.normal, a.at, b.at, best);
  if (is_far) {
    // Where the centres come nearest to each other, as of bodies that pass, and then where the best axis so far is lost.
    V3 way = b.translation - a.translation;
    real passing = -dot(b.centre - a.centre, way) / dot(way, way);
    if (passing > 0 && passing < HORIZON) try_way(here, m, passing, limit, best);
    ONCE for (int k = 0; k < MAX_ADVANCES; k++) {
      const real t = best.time;
      if (t >= HORIZON || !try_way(here, m, t, limit, best) || best.time <= t + ARRIVED) break;
    }
  }
  if (best.origin == OF_FIRST || best.origin == OF_SECOND) return report_face(here, a, b, best, limit, points);
  if (best.origin == ON_WAY) {
    const Frame at = frame_at(a, best.way), bt = frame_at(b, best.way);
    collide_bodies(here, a, at, b, bt, limit, points);
    ONCE for (int i = 0; i < points.count; i++)
      points.of[i].distance += pull_back(a, b, best.way, points.of[i].position, points.of[i].normal);
    return;
  }
  if (!(best.time >= HORIZON)) return;
  // Points that would be met are dropped but those along an axis that separates the bodies.
  int kept = 0;
  ONCE for (int i = 0; i < points.count; i++) {
    const Point p = points.of[i];
    if (!(p.distance - margin < HORIZON * approach_of(a, b, p.position, p.normal)) || dot(p.normal, best.normal) > ALIKE) points.of[kept++] = p;
  }
  points.count = kept;
}
#endif
