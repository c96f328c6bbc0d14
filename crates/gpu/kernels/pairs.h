// Contact points of two shapes of any kind: positions midway between the surfaces, normals from the first to the second.

#if OTHERS
// Below this sine of the tilt the lowest point of a standing cylinder's rim is not told from the others.
#define UPRIGHT BY_PRECISION(1e-6, 1e-4)
// A deepest point of its own is reported when the clipped points are shallower by more than this, m.
#define DEEPER BY_PRECISION(1e-9, 1e-6)
// Edges of boxes with a smaller sine squared between them give no axis that the sides do not, and an axis of two edges must be better than a
// side's by this, m, so that resting boxes keep a side's normal.
#define PARALLEL BY_PRECISION(1e-12, 1e-6)
#define PREFER_SIDES BY_PRECISION(1e-10, 1e-6)
// The clipped points show the distance of separated boxes when they are this near to the axis' bound, m.
#define EXACT BY_PRECISION(1e-12, 1e-6)

FN real entry(V3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

// A point of a body's surface above a plane.
FN void touch_plane(V3 n, real height, V3 p, real limit, Points& to, real share = 1) {
  real distance = dot(n, p) - height;
  if (distance <= limit) add(to, p - (R(0.5) * distance) * n, n, distance, share);
}

#if HULLS
// A body is taken to turn by this in a step at least, rad, where vertices are chosen that it may meet.
#define LEAST_TURN R(0.02)
// Up to four of a hull's vertices within reach.
FN void collide_plane_hull(const Here here, V3 n, real height, const Body& body, real limit, Points& to) {
  const Frame& at = body.at;
  V3 local = turn_back(at.rot, n);
  const real offset = dot(n, at.pos) - height;
  const int first = hull_of(0, body.hull), count = hull_of(1, body.hull);
  if (dot(AT3(hull_vertex, farthest_vertex(here, body.hull, -local)), local) + offset > limit) return;
  int within = 0, chosen[4];
  ONCE for (int i = 0; i < count; i++)
    if (dot(AT3(hull_vertex, first + i), local) + offset <= limit) {
      if (within < 4) chosen[within] = i;
      within++;
    }
  auto vertex = [&](int i) {
    V3 p = AT3(hull_vertex, first + i);
    real distance = dot(p, local) + offset;
    return Point{place_in(at, p) - (R(0.5) * distance) * n, n, distance <= limit ? distance : INFINITE};
  };
  if (within > 4) {
    // Where they are in the middle of the step: what comes down in it bears at its end, what rises at its beginning.
    auto way = [&](const Point& p) { return R(0.5) * dot(displacement(body, p.position), n); };
    auto height = [&](const Point& p) { return p.distance + way(p); };
    const real fall = abs_(dot(displacement(body, body.centre), n)) / body.ball;
    const real steepness = max_(1 / max_(norm(body.rotation) + fall, LEAST_TURN), STEEPNESS);
    // What overlaps pushes already.
    auto weight = [&](const Point& p) { return steepness * max_(height(p), 0) + STEEPNESS * min_(height(p), 0); };
    auto penalty = [&](const Point& p, const Point& lowest) { return max_(weight(p) - weight(lowest), 0); };
    within = choose_spread_by(count, n, vertex, height, penalty, chosen);
  }
  ONCE for (int k = 0; k < within; k++) {
    const Point p = vertex(chosen[k]);
    add(to, p.position, p.normal, p.distance);
  }
}
#endif

// What is fixed in the world at `normal · x = height`, and a body.
CALLED void collide_plane(const Here here, V3 n, real height, const Body& body, real limit, Points& to) {
  const Frame& at = body.at;
  V3 x = column(at, 0), z = column(at, 2);
  if (body.shape == ELLIPSOID) {
    V3 s = scaled(body.size, turn_back(at.rot, n));
    touch_plane(n, height, place_in(at, (-1 / norm(s)) * scaled(body.size, s)), limit, to);
  }
  if (body.shape == CYLINDER) {
    // Four points of the lower cap's rim, the lowest among them, the lowest of the upper cap's, and the one between both. On a soft plane it
    // stands on four as on three, and lies on three as on two.
    const real r = body.size.x, slope = dot(z, n), share = OF_LINE + (R(0.75) - OF_LINE) * slope * slope;
    V3 down = slope > 0 ? -z : z, u = r * (slope * z - n);
    real steep = norm(u);
    u = steep > UPRIGHT * r ? (r / steep) * u : r * x;
    V3 v = cross(down, u), low = at.pos + body.size.y * down;
    touch_plane(n, height, low + u, limit, to, share), touch_plane(n, height, low + v, limit, to, share);
    touch_plane(n, height, low - u, limit, to, share), touch_plane(n, height, low - v, limit, to, share);
    touch_plane(n, height, at.pos - body.size.y * down + u, limit, to, share);
    touch_plane(n, height, at.pos + u, limit, to, OF_LINE);
  }
#if HULLS
  if (body.shape == HULL) collide_plane_hull(here, n, height, body, limit, to);
#endif
}

// Outward unit normal of a shape's surface at the foot of a point in its frame, and the distance to it, negative inside.
FN real outside_box(V3 p, V3 half, V3& away) {
  V3 over = absolute(p) - half;
  if (over.x <= 0 && over.y <= 0 && over.z <= 0) {
    if (over.x >= over.y && over.x >= over.z) return away = v3(with_sign(1, p.x), 0, 0), over.x;
    if (over.y >= over.z) return away = v3(0, with_sign(1, p.y), 0), over.y;
    return away = v3(0, 0, with_sign(1, p.z)), over.z;
  }
  away = v3(with_sign(max_(over.x, 0), p.x), with_sign(max_(over.y, 0), p.y), with_sign(max_(over.z, 0), p.z));
  real length = norm(away);
  away = (1 / length) * away;
  return length;
}
FN real outside_cylinder(V3 p, real radius, real half, V3& away) {
  real radial = sqrt_(p.x * p.x + p.y * p.y);
  V3 outward = radial > 0 ? v3(p.x / radial, p.y / radial, 0) : v3(1, 0, 0), up = v3(0, 0, with_sign(1, p.z));
  real side = radial - radius, cap = abs_(p.z) - half;
  if (side <= 0 && cap <= 0) return away = side > cap ? outward : up, max_(side, cap);
  away = max_(side, 0) * outward + max_(cap, 0) * up;
  real length = norm(away);
  away = (1 / length) * away;
  return length;
}
#if CURVED
// By Newton's method on F(t) = Σ (rᵢ pᵢ / (t + eᵢ))² − 1, eᵢ = rᵢ² − min r² (Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a
// Hyperellipsoid).
FN real outside_ellipsoid(V3 p, V3 r, V3& away) {
  const real least = min_(r.x, min_(r.y, r.z));
  const int narrow = r.x == least ? 0 : r.y == least ? 1 : 2;
  V3 e = v3((r.x - least) * (r.x + least), (r.y - least) * (r.y + least), (r.z - least) * (r.z + least)), x;
  auto coordinate = [&](int i, real t) { return entry(p, i) == 0 ? R(0) : entry(r, i) * entry(r, i) * entry(p, i) / (t + entry(e, i)); };
  bool is_found = false;
  if (entry(p, narrow) == 0) {
    // The plane across the shortest axis: its pole at t = 0 may hide the root.
    x = v3(coordinate(0, 0), coordinate(1, 0), coordinate(2, 0));
    V3 level = v3(x.x / r.x, x.y / r.y, x.z / r.z);
    is_found = dot(level, level) < 1;
    real rest = is_found ? least * sqrt_(1 - dot(level, level)) : R(0);
    if (narrow == 0) x.x = rest;
    else if (narrow == 1) x.y = rest;
    else x.z = rest;
  }
  if (!is_found) {
    real t = 0;
    for (int i = 0; i < 3; i++) t = max_(t, entry(r, i) * abs_(entry(p, i)) - entry(e, i));
    ONCE for (int k = 0; k < 64; k++) {
      real f = -1, slope = 0;
      for (int i = 0; i < 3; i++)
        if (entry(p, i) != 0) {
          real d = 1 / (t + entry(e, i)), q = entry(r, i) * entry(p, i) * d;
          f += q * q, slope += q * q * d;
        }
      real next = t + R(0.5) * f / slope;
      // It rises until round-off.
      if (!(next > t)) break;
      t = next;
    }
    x = v3(coordinate(0, t), coordinate(1, t), coordinate(2, t));
  }
  away = v3(x.x / (r.x * r.x), x.y / (r.y * r.y), x.z / (r.z * r.z));
  away = (1 / norm(away)) * away;
  return dot(p - x, away);
}
#endif

// A ball and a box, cylinder or ellipsoid.
FN void collide_ball(V3 centre, real r, const Body& body, const Frame& at, real limit, Points& to) {
  V3 local = within(at, centre), away = v3(0, 0, 1);
  real depth = 0;
  if (body.shape == BOX) depth = outside_box(local, body.size, away);
#if CURVED
  if (body.shape == CYLINDER) depth = outside_cylinder(local, body.size.x, body.size.y, away);
  if (body.shape == ELLIPSOID) depth = outside_ellipsoid(local, body.size, away);
#endif
  V3 normal = -turn(at.rot, away);
  real distance = depth - r;
  if (distance <= limit) add(to, centre + (r + R(0.5) * distance) * normal, normal, distance);
}

// A segment c + t d, |t| ≤ h, in the frame of a box.
struct Segment { real c[3], d[3], h, half[3]; };
FN real excess_of(const Segment& s, int i, real t) {
  real x = s.c[i] + t * s.d[i];
  return with_sign(max_(abs_(x) - s.half[i], 0), x);
}
FN real slope_of(const Segment& s, real t) {
  return s.d[0] * excess_of(s, 0, t) + s.d[1] * excess_of(s, 1, t) + s.d[2] * excess_of(s, 2, t);
}
FN real distance_squared(const Segment& s, real t) {
  real x = excess_of(s, 0, t), y = excess_of(s, 1, t), z = excess_of(s, 2, t);
  return x * x + y * y + z * z;
}
// The interval of t in which coordinate i is within the box.
FN void interval(const Segment& s, int i, real& low, real& high) {
  if (s.d[i] == 0) {
    bool is_within = abs_(s.c[i]) <= s.half[i];
    low = is_within ? -s.h : s.h, high = -low;
    return;
  }
  real p = (-s.half[i] - s.c[i]) / s.d[i], q = (s.half[i] - s.c[i]) / s.d[i];
  low = p < q ? p : q, high = p < q ? q : p;
}
// The t nearest to the box: the root of the slope, found between its breakpoints.
FN real nearest_on(const Segment& s) {
  real low = -s.h, high = s.h, at_low = slope_of(s, low), at_high = slope_of(s, high);
  if (at_low >= 0) return low;
  if (at_high <= 0) return high;
  ONCE for (int k = 0; k < 6; k++) {
    real ends[2];
    interval(s, k / 2, ends[0], ends[1]);
    real t = ends[k % 2];
    if (!(t > low && t < high)) continue;
    real slope = slope_of(s, t);
    if (slope <= 0) low = t, at_low = slope;
    if (slope >= 0) high = t, at_high = slope;
  }
  return at_high > at_low ? low - at_low * (high - low) / (at_high - at_low) : low;
}
// A capsule whose axis runs through a box: the least of the ways apart, across a face or across an edge.
CALLED void collide_pierced(const Segment& s, const Frame& at, real r, const Frame& bt, real limit, Points& to) {
  real best = -INFINITE, away[3] = {0, 0, 0};
  int axis = 0;
  bool is_edge = false;
  ONCE for (int i = 0; i < 3; i++) {
    real overlap = abs_(s.c[i]) - s.half[i] - s.h * abs_(s.d[i]);
    if (overlap > best) {
      best = overlap, axis = i;
      for (int k = 0; k < 3; k++) away[k] = k == i ? with_sign(1, s.c[i]) : R(0);
    }
  }
  ONCE for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    real length = sqrt_(s.d[j] * s.d[j] + s.d[k] * s.d[k]);
    if (length < BY_PRECISION(1e-9, 1e-5)) continue;
    real x = -s.d[k], y = s.d[j], offset = s.c[j] * x + s.c[k] * y, scale = with_sign(1, offset) / length;
    real overlap = abs_(offset) / length - (s.half[j] * abs_(x) + s.half[k] * abs_(y)) / length;
    if (overlap > best) best = overlap, axis = i, away[i] = 0, away[j] = x * scale, away[k] = y * scale, is_edge = true;
  }
  V3 normal = -turn(bt.rot, get3(away));
  auto touch = [&](real t, real distance) {
    if (distance <= limit) add(to, at.pos + t * column(at, 2) + (r + R(0.5) * distance) * normal, normal, distance);
  };
  if (is_edge) {
    // Where the axis passes the edge through the corner farthest along `away`, seen along `away`.
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    real oj = with_sign(s.half[j], away[j]) - s.c[j], ok = with_sign(s.half[k], away[k]) - s.c[k];
    return touch(clamp_((oj * s.d[j] + ok * s.d[k]) / (s.d[j] * s.d[j] + s.d[k] * s.d[k]), -s.h, s.h), best - r);
  }
  real low = -s.h, high = s.h, deepest = away[axis] * s.d[axis] > 0 ? -s.h : s.h;
  ONCE for (int m = 0; m < 3; m++) {
    real p, q;
    if (m == axis) continue;
    interval(s, m, p, q);
    low = max_(low, p), high = min_(high, q);
  }
  bool is_reached = false;
  ONCE for (int end = 0; end < 2 && low < high; end++) {
    real t = end ? high : low;
    touch(t, away[axis] * (s.c[axis] + t * s.d[axis]) - s.half[axis] - r);
    is_reached |= t == deepest;
  }
  if (!is_reached) touch(deepest, best - r);
}
// The nearest point of a capsule and a box, and the ends of the part that lies along the same face or edge.
CALLED void collide_capsule_box(const Body& a, const Frame& at, const Body& b, const Frame& bt, real limit, Points& to) {
  const real r = a.size.x, h = a.size.y, most = r + limit;
  Segment s;
  put3(s.c, within(bt, at.pos));
  put3(s.d, turn_back(bt.rot, column(at, 2)));
  put3(s.half, b.size);
  s.h = h;
  const real t = nearest_on(s), squared = distance_squared(s, t);
  if (squared > most * most) return;
  if (squared == 0) return collide_pierced(s, at, r, bt, limit, to);
  real low = -h, high = h, nearest_end = INFINITE;
  ONCE for (int i = 0; i < 3; i++) {
    real p, q;
    if (excess_of(s, i, t) != 0) continue;
    interval(s, i, p, q);
    low = max_(low, p), high = min_(high, q);
  }
  if (high - low > SHORT * r)
    ONCE for (int end = 0; end < 2; end++) {
      real along = end ? high : low, own = distance_squared(s, along);
      nearest_end = min_(nearest_end, own);
      if (own <= most * most) collide_ball(at.pos + along * column(at, 2), r, b, bt, limit, to);
    }
  if (sqrt_(squared) < sqrt_(nearest_end) - NEARER * r) collide_ball(at.pos + t * column(at, 2), r, b, bt, limit, to);
}

FN real deepest_of(const Points& points) {
  real least = INFINITE;
  ONCE for (int k = 0; k < points.count; k++) least = min_(least, points.of[k].distance);
  return least;
}
// Appends the deepest point and the corners of the overlap of the features that face along the normal.
FN void add_manifold(const Here here, const Placed& a, const Placed& b, const Nearest& at, real limit, Points& to) {
  clip_features(here, a, b, at.position, at.normal, limit, to);
  if (deepest_of(to) > at.distance + DEEPER) add(to, at.position, at.normal, at.distance);
}

// The axis of greatest separation of two boxes, the second's centre d from the first's, and the separation along it; false when it exceeds the
// limit. The fifteen axes: Gottschalk, Lin, Manocha, OBBTree (1996).
CALLED bool best_axis(const Placed& a, const Placed& b, V3 d, real limit, V3& normal, real& separation) {
  real best = -INFINITE, c[3][3], h[3], k[3], t[3];
  put3(h, a.size), put3(k, b.size), put3(t, turn_back(a.at.rot, d));
  for (int i = 0; i < 3; i++) put3(c[i], turn_back(b.at.rot, column(a.at, i)));
  ONCE for (int i = 0; i < 3; i++) {
    real own = abs_(t[i]) - h[i] - (abs_(c[i][0]) * k[0] + abs_(c[i][1]) * k[1] + abs_(c[i][2]) * k[2]);
    if (own > best) best = own, normal = with_sign(1, t[i]) * column(a.at, i);
  }
  ONCE for (int j = 0; j < 3; j++) {
    real along = dot(d, column(b.at, j)), own = abs_(along) - k[j] - (abs_(c[0][j]) * h[0] + abs_(c[1][j]) * h[1] + abs_(c[2][j]) * h[2]);
    // A tie goes to the first box's side.
    if (own > best + PREFER_SIDES) best = own, normal = with_sign(1, along) * column(b.at, j);
  }
  if (best > limit) return false;
  ONCE for (int e = 0; e < 9; e++) {
    const int i = e / 3, j = e % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    const real sine2 = 1 - c[i][j] * c[i][j];
    if (sine2 < PARALLEL) continue;
    real along = t[i2] * c[i1][j] - t[i1] * c[i2][j];
    real radii = h[i1] * abs_(c[i2][j]) + h[i2] * abs_(c[i1][j]) + k[j1] * abs_(c[i][j2]) + k[j2] * abs_(c[i][j1]);
    real overlap = abs_(along) - radii;
    if (overlap <= 0 && best > 0) continue;
    real scale = 1 / sqrt_(sine2), own = overlap * scale;
    if (own > best + PREFER_SIDES) {
      V3 axis = cross(column(a.at, i), column(b.at, j));
      best = own, normal = with_sign(scale, dot(axis, d)) * axis;
      if (own > limit) return false;
    }
  }
  separation = best;
  return normalise(normal);
}
// Middle and half of the edge of a box that is farthest along n: the one most nearly across it.
FN V3 support_edge(const Placed& p, V3 n, V3& along) {
  V3 l = turn_back(p.at.rot, n), size = absolute(l);
  V3 corner = v3(with_sign(p.size.x, l.x), with_sign(p.size.y, l.y), with_sign(p.size.z, l.z));
  if (size.x <= size.y && size.x <= size.z) corner.x = 0, along = p.size.x * column(p.at, 0);
  else if (size.y <= size.z) corner.y = 0, along = p.size.y * column(p.at, 1);
  else corner.z = 0, along = p.size.z * column(p.at, 2);
  return place_in(p.at, corner);
}
// Midway between the edges (or corners) that are nearest along the normal.
FN V3 crossing(const Placed& a, const Placed& b, V3 normal, real separation) {
  V3 u, v, p = support_edge(a, normal, u), q = support_edge(b, -normal, v), w = q - p;
  real across = dot(cross(u, v), normal), s = 0, t = 0;
  if (abs_(across) > BY_PRECISION(1e-9, 1e-5) * norm(u) * norm(v)) {
    s = clamp_(dot(cross(w, v), normal) / across, -1, 1);
    t = clamp_(dot(cross(w, u), normal) / across, -1, 1);
  }
  V3 middle = R(0.5) * (p + s * u + q + t * v);
  // On the line through the middle, but with the separation known exactly.
  real height = dot(p, normal) + abs_(dot(u, normal)) + R(0.5) * separation;
  return middle + (height - dot(middle, normal)) * normal;
}
// Up to eight points: the corners of the overlap of the two sides that face each other.
FN void collide_boxes(const Here here, Placed& a, Placed& b, real limit, Points& to) {
  Nearest at;
  if (!best_axis(a, b, b.at.pos - a.at.pos, limit, at.normal, at.distance)) return;
  at.position = crossing(a, b, at.normal, at.distance);
  if (at.distance <= 0) return add_manifold(here, a, b, at, limit, to);
  // The axis' bound is the distance only when two points of the boxes attain it.
  clip_features(here, a, b, at.position, at.normal, limit, to);
  if (!(deepest_of(to) > at.distance + EXACT * (1 + at.distance))) return;
  to.count = 0;
  if (nearest(here, a, b, limit, at)) add_manifold(here, a, b, at, limit, to);
}

// Whether the boxes around two shapes are farther apart than `limit` along an axis of either.
FN bool boxes_are_apart(const Body& a, const Frame& at, const Body& b, const Frame& bt, real limit) {
  V3 apart = place_in(bt, b.centre_within) - place_in(at, a.centre_within), of_a, of_b = v3(0, 0, 0);
  real own[3];
  for (int j = 0; j < 3; j++) {
    V3 axis = absolute(turn_back(at.rot, column(bt, j)));
    of_b = of_b + entry(b.half, j) * axis;
    own[j] = dot(axis, a.half);
  }
  of_a = get3(own);
  V3 first = absolute(turn_back(at.rot, apart)) - a.half - of_b, second = absolute(turn_back(bt.rot, apart)) - b.half - of_a;
  return max_(largest(first), largest(second)) > limit;
}

FN Round round_of(const Body& body, const Frame& at) {
  return Round{at.pos, column(at, 2), body.size.x, body.shape == CAPSULE ? body.size.y : R(0)};
}

#if FIELDS
CALLED void collide_field(const Here here, const Body& field, const Frame& at, const Body& body, const Frame& bt, real limit, Points& to);
#endif

// Contact points of two bodies where they are placed so.
CALLED void collide_bodies(const Here here, const Body& a, const Frame& at, const Body& b, const Frame& bt, real limit, Points& to) {
  to.count = 0;
#if FIELDS
  if (b.shape == FIELD) return;
  if (a.shape == FIELD) return collide_field(here, a, at, b, bt, limit, to);
#endif
  if (b.shape <= CAPSULE) {
    Point point;
    ONCE for (int k = 0; k < 3; k++)
      if (between(round_of(a, at), round_of(b, bt), k, limit, point)) add(to, point.position, point.normal, point.distance);
    return;
  }
  if (a.shape == SPHERE && b.shape < HULL) return collide_ball(at.pos, a.size.x, b, bt, limit, to);
  if (a.shape == CAPSULE && b.shape == BOX) return collide_capsule_box(a, at, b, bt, limit, to), add_middle(a.shape, b.shape, to);
  if (!(a.shape == BOX && b.shape == BOX) && boxes_are_apart(a, at, b, bt, limit)) return;
  // In a frame about the first one: no digits are lost far from the world's origin.
  const V3 origin = at.pos;
  Placed p = placed(a, at, origin), q = placed(b, bt, origin);
  Nearest found;
  if (a.shape == BOX && b.shape == BOX) {
    collide_boxes(here, p, q, limit, to);
  } else if (nearest(here, p, q, limit, found)) {
    add_manifold(here, p, q, found, limit, to);
    spread(to, found.normal);
    add_middle(a.shape, b.shape, to);
  }
  ONCE for (int k = 0; k < to.count; k++) to.of[k].position = to.of[k].position + origin;
}
#endif
