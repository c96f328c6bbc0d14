// The nearest points of two convex cores, or the least way apart where they overlap: by the Gilbert–Johnson–Keerthi algorithm and by expanding
// polytopes, both on the difference of the cores, then to the last digits by Newton's method where one is curved.

#if OTHERS
// A way apart that is shorter than the one found by more than this is taken instead, m.
#define MISSED BY_PRECISION(1e-6, 1e-5)
#define MAX_NEAREST_STEPS 64
// Distances that agree to this share of them are the distance; cores that are nearer than this share of their size overlap.
#define NEAREST_AGREES BY_PRECISION(1e-12, 1e-5)
#define TOUCHING BY_PRECISION(1e-14, 1e-6)
// Vertices of an expanding polytope at most, and the share of its size within which a face of it is one of the difference: of curved cores where
// Newton's method goes on.
#define MOST_VERTICES 64
#define EXPANDED BY_PRECISION(1e-12, 1e-6)
#define EXPANDED_CURVED BY_PRECISION(1e-7, 1e-5)

// The points between which the distance of two surfaces, or the least way apart, is measured: unit vector from the first body to the second, the
// point midway, negative distance in penetration.
struct Nearest { V3 normal, position; real distance; };

// A point of the second core less one of the first, and that one.
struct Difference { V3 of, on_a; };
FN Difference farthest_difference(const Here here, const Placed& a, const Placed& b, V3 d) {
  V3 p = support(here, a, -d), q = support(here, b, d);
  return Difference{q - p, p};
}
FN real gap_along(const Here here, const Placed& a, const Placed& b, V3 n, V3& apart) {
  apart = support(here, b, -n) - support(here, a, n);
  return dot(apart, n);
}

struct Simplex { int n; Difference of[4]; real weight[4]; };

// The point of a triangle nearest to the origin, as weights of its corners.
FN void project_on_triangle(V3 a, V3 b, V3 c, real* w) {
  V3 ab = b - a, ac = c - a;
  real d1 = -dot(ab, a), d2 = -dot(ac, a), d3 = -dot(ab, b), d4 = -dot(ac, b), d5 = -dot(ab, c), d6 = -dot(ac, c);
  w[0] = w[1] = w[2] = 0;
  if (d1 <= 0 && d2 <= 0) w[0] = 1;
  else if (d3 >= 0 && d4 <= d3) w[1] = 1;
  else if (d6 >= 0 && d5 <= d6) w[2] = 1;
  else {
    // Signed areas, about the normal: less is lost than from products of these.
    V3 n = cross(ab, ac);
    real on_c = dot(n, cross(a, b)), on_a = dot(n, cross(b, c)), on_b = dot(n, cross(c, a));
    if (on_c <= 0 && d1 >= 0 && d3 <= 0) w[1] = d1 / (d1 - d3), w[0] = 1 - w[1];
    else if (on_b <= 0 && d2 >= 0 && d6 <= 0) w[2] = d2 / (d2 - d6), w[0] = 1 - w[2];
    else if (on_a <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6)), w[1] = 1 - w[2];
    else {
      real all = on_a + on_b + on_c;
      w[0] = on_a / all, w[1] = on_b / all, w[2] = on_c / all;
    }
  }
}

// Reduces a simplex to the corners that the point nearest to the origin is between, and returns this point; four corners are left where the origin
// is inside.
CALLED V3 reduce(Simplex& s) {
  real best[4] = {1, 0, 0, 0};
  int keep[4] = {0, 1, 2, 3}, kept = 1;
  V3 found = s.of[0].of;
  if (s.n == 2) {
    V3 a = s.of[0].of, ab = s.of[1].of - a;
    real t = clamp_(-dot(ab, a) / max_(dot(ab, ab), TINY), 0, 1);
    best[0] = 1 - t, best[1] = t, kept = 2, found = a + t * ab;
  } else if (s.n > 2) {
    real least = INFINITE;
    bool is_inside = s.n == 4;
    ONCE for (int face = 0; face < (s.n == 4 ? 4 : 1); face++) {
      const int i = face == 3 ? 1 : 0, j = face == 0 ? 1 : face == 3 ? 2 : face == 1 ? 1 : 2, k = s.n == 4 && face ? 3 : 2;
      V3 a = s.of[i].of, b = s.of[j].of, c = s.of[k].of, n = cross(b - a, c - a);
      if (s.n == 4) {
        // Whether the origin and the fourth corner are on different sides.
        real origin = -dot(n, a), fourth = dot(n, s.of[6 - i - j - k].of - a);
        if (fourth == 0) is_inside = false;
        else if (origin * fourth >= 0) continue;
        is_inside = false;
      }
      real w[3];
      project_on_triangle(a, b, c, w);
      V3 p = w[0] * a + w[1] * b + w[2] * c;
      // Within the triangle along its normal, to all digits.
      real squared = dot(n, n);
      if (w[0] > 0 && w[1] > 0 && w[2] > 0 && squared > 0) p = (dot(a, n) / squared) * n;
      real size = dot(p, p);
      if (size < least) least = size, found = p, keep[0] = i, keep[1] = j, keep[2] = k, best[0] = w[0], best[1] = w[1], best[2] = w[2], kept = 3;
    }
    if (is_inside) return v3(0, 0, 0);
  }
  Difference of[3];
  int n = 0;
  for (int k = 0; k < kept; k++)
    if (best[k] > 0) of[n] = s.of[keep[k]], s.weight[n++] = best[k];
  for (int k = 0; k < n; k++) s.of[k] = of[k];
  s.n = n;
  return found;
}

FN V3 toward(const Placed& a, const Placed& b) {
  V3 n = b.centre - a.centre;
  return normalise(n) ? n : v3(0, 0, 1);
}

enum Cores { BEYOND, APART, OVERLAPPING };
// How two cores lie to each other; where they are apart, by no more than `limit`, also unit normal and nearest points.
CALLED Cores find_nearest(const Here here, const Placed& a, const Placed& b, real limit, Simplex& s, V3& normal, V3& p, V3& q) {
  s.n = 1, s.weight[0] = 1;
  s.of[0] = farthest_difference(here, a, b, -toward(a, b));
  V3 v = s.of[0].of;
  real distance = norm(v), most = distance, size = distance;
  const real reach = limit + (a.is_coarse ? COARSENESS * ((is_curved(a) ? largest(a.size) : R(0)) + (is_curved(b) ? largest(b.size) : R(0))) : R(0));
  const real agrees = is_curved(a) || is_curved(b) ? max_(NEAREST_AGREES, R(1e-7)) : NEAREST_AGREES;
  bool is_apart = false;
  ONCE for (int step = 0; step < MAX_NEAREST_STEPS; step++) {
    if (distance <= TOUCHING * size) return OVERLAPPING;
    normal = (1 / distance) * v;
    Difference next = farthest_difference(here, a, b, -normal);
    const real least = dot(normal, next.of);
    size = max_(size, norm(next.of));
    is_apart |= least > 0;
    if (least > reach) {
      Placed fine_a = a, fine_b = b;
      fine_a.is_coarse = fine_b.is_coarse = false;
      V3 apart;
      return gap_along(here, fine_a, fine_b, normal, apart) >= limit ? BEYOND : OVERLAPPING;
    }
    bool is_known = distance - least <= agrees * distance;
    for (int k = 0; k < s.n; k++) is_known |= s.of[k].of.x == next.of.x && s.of[k].of.y == next.of.y && s.of[k].of.z == next.of.z;
    if (is_known) break;
    Simplex before = s;
    s.of[s.n++] = next;
    v = reduce(s);
    if (s.n == 4) return OVERLAPPING;
    most = norm(v);
    if (!(most < distance)) {
      s = before;
      break;
    }
    distance = most;
  }
  if (!is_apart) return OVERLAPPING;
  p = v3(0, 0, 0);
  for (int k = 0; k < s.n; k++) p = p + s.weight[k] * s.of[k].on_a;
  q = p + distance * normal;
  return APART;
}

// A face of a polytope that holds the origin: corners, outward unit normal and its distance.
struct Side { int of[3]; V3 normal; real distance; };
FN bool side_from(const Difference* of, int i, int j, int k, Side& side) {
  V3 a = of[i].of;
  side.of[0] = i, side.of[1] = j, side.of[2] = k;
  side.normal = cross(of[j].of - a, of[k].of - a);
  if (!normalise(side.normal)) return false;
  side.distance = dot(side.normal, a);
  return true;
}

// Adds a point of the difference off the span of the simplex; false where it is flat.
FN bool extend(const Here here, const Placed& a, const Placed& b, Simplex& s) {
  V3 first = s.of[0].of, along = s.n > 1 ? s.of[1].of - first : v3(0, 0, 0), other = s.n > 2 ? s.of[2].of - first : v3(0, 0, 0);
  ONCE for (int k = 0; k < 6; k++) {
    const real sign = k & 1 ? R(-1) : R(1);
    V3 axis = v3(k / 2 == 0, k / 2 == 1, k / 2 == 2), d = axis;
    if (s.n == 2) d = cross(along, axis);
    if (s.n == 3) d = cross(along, other);
    if (!normalise(d)) continue;
    Difference next = farthest_difference(here, a, b, sign * d);
    V3 way = next.of - first;
    real off = s.n == 1 ? norm(way) : s.n == 2 ? norm(cross(along, way)) / norm(along) : abs_(dot(d, way));
    if (off > R(1e3) * TOUCHING * max_(norm(next.of), norm(first))) {
      s.of[s.n++] = next;
      return true;
    }
  }
  return false;
}

// The least way apart of cores that overlap: unit normal, and the points that are deepest in one another.
CALLED void penetrate(const Here here, const Placed& a, const Placed& b, Simplex& s, V3& normal, V3& p, V3& q) {
  Difference of[MOST_VERTICES];
  Side sides[2 * MOST_VERTICES];
  int edges[MOST_VERTICES][2];
  normal = toward(a, b);
  p = support(here, a, normal), q = support(here, b, -normal);
  ONCE while (s.n < 4)
    if (!extend(here, a, b, s)) return;
  real size = 0;
  for (int k = 0; k < 4; k++) of[k] = s.of[k], size = max_(size, norm(of[k].of));
  V3 o = of[0].of;
  if (dot(cross(of[1].of - o, of[2].of - o), of[3].of - o) > 0) {
    Difference swapped = of[1];
    of[1] = of[2], of[2] = swapped;
  }
  int vertices = 4, faces = 4;
  if (!side_from(of, 0, 1, 2, sides[0]) || !side_from(of, 0, 3, 1, sides[1]) || !side_from(of, 1, 3, 2, sides[2]) || !side_from(of, 0, 2, 3, sides[3])) return;
  const real slack = (is_curved(a) || is_curved(b) ? EXPANDED_CURVED : EXPANDED) * size;
  int best;
  ONCE for (;;) {
    best = 0;
    ONCE for (int f = 1; f < faces; f++)
      if (sides[f].distance < sides[best].distance) best = f;
    if (vertices == MOST_VERTICES) break;
    Difference next = farthest_difference(here, a, b, sides[best].normal);
    if (dot(next.of, sides[best].normal) - sides[best].distance <= slack) break;
    // What the new point sees goes, and the border of that is joined to it.
    const Side found = sides[best];
    int kept = 0, border = 0;
    bool is_broken = false;
    ONCE for (int f = 0; f < faces; f++) {
      const Side side = sides[f];
      if (dot(next.of, side.normal) < side.distance - R(0.01) * slack) {
        sides[kept++] = side;
        continue;
      }
      ONCE for (int k = 0; k < 3; k++) {
        const int from = side.of[k], to = side.of[k == 2 ? 0 : k + 1];
        int twin = -1;
        ONCE for (int e = 0; e < border; e++)
          if (edges[e][0] == to && edges[e][1] == from) twin = e;
        if (twin >= 0) border--, edges[twin][0] = edges[border][0], edges[twin][1] = edges[border][1];
        else if (border < MOST_VERTICES) edges[border][0] = from, edges[border++][1] = to;
        else is_broken = true;
      }
    }
    of[vertices] = next;
    is_broken |= kept + border > 2 * MOST_VERTICES;
    ONCE for (int e = 0; e < border && !is_broken; e++) is_broken |= !side_from(of, edges[e][0], edges[e][1], vertices, sides[kept + e]);
    if (is_broken || border < 3) {
      sides[0] = found, best = 0;
      break;
    }
    vertices++, faces = kept + border;
  }
  real w[3];
  const Side side = sides[best];
  project_on_triangle(of[side.of[0]].of, of[side.of[1]].of, of[side.of[2]].of, w);
  p = w[0] * of[side.of[0]].on_a + w[1] * of[side.of[1]].on_a + w[2] * of[side.of[2]].on_a;
  q = p + side.distance * side.normal;
  normal = -side.normal;
}

// Normal, gap and middle of a way apart that is shorter than the one along `normal`, if there is one: along the directions that aligned bodies
// part along.
CALLED bool find_shorter_way(const Here here, const Placed& a, const Placed& b, V3& normal, real& gap, V3& middle) {
  const V3 way = toward(a, b);
  V3 apart, best = normal;
  real most = gap_along(here, a, b, normal, apart) + MISSED;
  bool is_found = false;
  ONCE for (int k = 0; k < 10; k++) {
    V3 n = way;
    if (k > 0 && k < 7) n = k < 4 ? column(a.at, k - 1) : column(b.at, k - 4);
    else if (k == 9) n = cross(column(a.at, 2), column(b.at, 2));
    else if (k > 6) n = k == 7 ? column(a.at, 2) : column(b.at, 2);
    if (k == 7 || k == 8) n = way - dot(way, n) * n;
    else if (dot(n, way) < 0) n = -n;
    if (!normalise(n)) continue;
    real own = gap_along(here, a, b, n, apart);
    if (own > most) most = own, best = n, is_found = true;
  }
  if (!is_found) return false;
  normal = best, gap = most;
  middle = R(0.5) * (a.centre + b.centre);
  real height = R(0.5) * dot(support(here, a, best) + support(here, b, -best), best);
  middle = middle + (height - dot(middle, best)) * best;
  return true;
}

#if CURVED
// Sines within which an edge is taken to face the normal squarely: the best of these guesses wins.
#define GUESSES 3
#define POLISHING_STEPS 8
// Gaps of bodies about 1 m large are equal within this, m: then the smaller slope is better.
#define EQUAL BY_PRECISION(1e-14, 1e-7)
// How far around a peak to look whether it is one, rad.
#define RING BY_PRECISION(1e-4, 1e-2)

// Unit edges that a support point may slide along: the first, and the normal of the plane of two.
struct Edges { bool has_first, has_plane; V3 first, plane; };
FN void add_edge(Edges& edges, V3 edge) {
  if (!normalise(edge)) return;
  if (!edges.has_first) {
    edges.has_first = true, edges.first = edge;
    return;
  }
  V3 across = cross(edges.first, edge);
  if (!edges.has_plane && dot(across, across) > R(1e-4)) edges.has_plane = normalise(across), edges.plane = across;
}

// How the support point of a body near a direction depends on it: the second derivative of its support function, and edges.
struct Local { real curvature[6]; Edges edges; };
FN void add_outer(real* s, real by, V3 a) {
  s[0] += by * a.x * a.x, s[1] += by * a.x * a.y, s[2] += by * a.x * a.z, s[3] += by * a.y * a.y, s[4] += by * a.y * a.z, s[5] += by * a.z * a.z;
}
CALLED Local local_at(const Here here, const Placed& body, V3 d, real square) {
  Local local{{0, 0, 0, 0, 0, 0}, {false, false, v3(0, 0, 0), v3(0, 0, 0)}};
  auto edge = [&](V3 e) {
    if (abs_(dot(e, d)) <= square * norm(e)) add_edge(local.edges, e);
  };
  V3 x = column(body.at, 0), y = column(body.at, 1), z = column(body.at, 2);
  if (body.shape == CAPSULE) edge(body.size.y * z);
  if (body.shape == BOX) edge(x), edge(y), edge(z);
#if HULLS
  if (body.shape == HULL) {
    const int top = farthest_vertex(here, body.hull, turn_back(body.at.rot, d));
    ONCE for (int k = vertex_range(0, top); k < vertex_range(1, top); k++)
      edge(turn(body.at.rot, AT3(hull_vertex, hull_neighbour(k)) - AT3(hull_vertex, top)));
  }
#endif
  if (body.shape == CYLINDER) {
    // A disc and a segment: their support functions add.
    V3 across = cross(z, d);
    real sine = norm(across);
    if (sine > square) {
      edge(z);
      add_outer(local.curvature, body.size.x / sine, (1 / sine) * across);
    } else {
      local.edges.has_first = local.edges.has_plane = true, local.edges.first = x, local.edges.plane = z;
    }
  }
  if (body.shape == ELLIPSOID) {
    // h = ‖D d‖ with D the semi-axes: ∇²h = (A − s sᵀ) / h, A = D², s = A d / h.
    V3 l = turn_back(body.at.rot, d), r = body.size, s = scaled(scaled(r, r), l);
    real h = sqrt_(dot(s, l));
    add_outer(local.curvature, r.x * r.x / h, x), add_outer(local.curvature, r.y * r.y / h, y), add_outer(local.curvature, r.z * r.z / h, z);
    add_outer(local.curvature, -1 / (h * h * h), turn(body.at.rot, s));
  }
  return local;
}

// A direction, the gap along it, and how fast the gap still grows across it, m/rad.
struct Peak { V3 normal; real gap, slope; };
FN void offer(Peak& best, V3 normal, real gap, real slope) {
  if (gap > best.gap + EQUAL || (gap > best.gap - EQUAL && slope < best.slope)) best = Peak{normal, gap, slope};
}

// Improves the best direction under the guess that edges within `square` of the normal's plane face it: there Newton's method finds the largest
// gap, gradient the way apart, second derivative −(∇²h_a + ∇²h_b) − g I on the tangents.
CALLED void climb(const Here here, const Placed& a, const Placed& b, real square, Peak& best) {
  const V3 start = best.normal;
  V3 apart;
  Edges edges = local_at(here, a, start, square).edges;
  const Edges of_b = local_at(here, b, -start, square).edges;
  if (!edges.has_plane) {
    if (of_b.has_plane) edges.has_plane = true, edges.plane = of_b.plane;
    else if (of_b.has_first) add_edge(edges, of_b.first);
  }
  if (edges.has_plane) {
    V3 n = dot(edges.plane, start) < 0 ? -edges.plane : edges.plane;
    return offer(best, n, gap_along(here, a, b, n, apart), 0);
  }
  V3 n = start, e = edges.first;
  if (edges.has_first) {
    n = n - dot(n, e) * e;
    if (!normalise(n)) return;
  }
  ONCE for (int k = 0; k < POLISHING_STEPS; k++) {
    real gap = gap_along(here, a, b, n, apart), slope;
    Local of = local_at(here, a, n, 0), other = local_at(here, b, -n, 0);
    for (int j = 0; j < 6; j++) of.curvature[j] += other.curvature[j];
    V3 step = v3(0, 0, 0);
    if (edges.has_first) {
      V3 t = cross(e, n);
      real m = dot(t, times(of.curvature, t)) + gap, g = dot(apart, t);
      slope = abs_(g);
      if (m > 0) step = (g / m) * t;
    } else {
      V3 g = apart - gap * n, t1, t2;
      slope = norm(g);
      tangents(n, t1, t2);
      V3 k1 = times(of.curvature, t1), k2 = times(of.curvature, t2);
      real m11 = dot(t1, k1) + gap, m12 = dot(t1, k2), m22 = dot(t2, k2) + gap, det = m11 * m22 - m12 * m12, g1 = dot(g, t1), g2 = dot(g, t2);
      if (m11 > 0 && det > 0) step = ((m22 * g1 - m12 * g2) / det) * t1 + ((m11 * g2 - m12 * g1) / det) * t2;
    }
    offer(best, n, gap, slope);
    const real least = BY_PRECISION(2.2e-16, 1e-7);
    if (!(dot(step, step) > least * least)) return;
    n = n + step;
    if (edges.has_first) n = n - dot(n, e) * e;
    if (!normalise(n)) return;
  }
}

// The best direction near `normal`; `middle` estimates the point midway between the cores, and stands for it where there is no single one.
CALLED void polish(const Here here, const Placed& a, const Placed& b, V3& normal, real& gap, V3& middle) {
  V3 apart;
  Peak best{normal, gap_along(here, a, b, normal, apart), INFINITE};
  ONCE for (int guess = 0; guess < GUESSES; guess++) climb(here, a, b, guess == 0 ? R(1e-2) : guess == 1 ? R(1e-4) : R(0), best);
  normal = best.normal, gap = best.gap;
  V3 on_a = support(here, a, normal), on_b = support(here, b, -normal);
  const real square = BY_PRECISION(1e-6, 1e-4);
  const Edges at_a = local_at(here, a, normal, square).edges, at_b = local_at(here, b, -normal, square).edges;
  if (!at_a.has_first && !at_b.has_first) middle = R(0.5) * (on_a + on_b);
  else if (!at_a.has_first) middle = on_a + (R(0.5) * gap) * normal;
  else if (!at_b.has_first) middle = on_b - (R(0.5) * gap) * normal;
  else {
    // Two edges cross, seen along the normal, unless they are parallel or one is of a face.
    real across = dot(cross(at_a.first, at_b.first), normal);
    if (!at_a.has_plane && !at_b.has_plane && abs_(across) > R(1e-6)) {
      real along = dot(cross(on_b - on_a, at_b.first), normal) / across;
      middle = on_a + along * at_a.first + (R(0.5) * gap) * normal;
    } else {
      real height = R(0.5) * dot(on_a + on_b, normal);
      middle = middle + (height - dot(middle, normal)) * normal;
    }
  }
}

// Whether no direction around the normal shows a larger gap.
CALLED bool is_peak(const Here here, const Placed& a, const Placed& b, V3 n, real gap) {
  V3 t1, t2, apart;
  tangents(n, t1, t2);
  ONCE for (int k = 0; k < 8; k++) {
    V3 t = k == 0 ? t1 : k == 1 ? R(0.70710678118654752) * (t1 + t2) : k == 2 ? t2 : R(0.70710678118654752) * (t2 - t1);
    if (k > 3) {
      t = cross(n, column(k < 6 ? a.at : b.at, 2));
      if (k & 1) t = cross(n, t);
      if (!normalise(t)) continue;
    }
    ONCE for (int side = 0; side < 2; side++) {
      V3 m = n + (side ? -RING : RING) * t;
      normalise(m);
      if (gap_along(here, a, b, m, apart) > gap + EQUAL) return false;
    }
  }
  return true;
}
#endif

// The nearest points; false when the bodies are more than `limit` apart.
CALLED bool nearest(const Here here, Placed& a, Placed& b, real limit, Nearest& found) {
  const bool is_any_curved = is_curved(a) || is_curved(b);
  // Two curved bodies: first as inscribed polytopes; where Newton's method from there finds no peak, as they are. Beside the sharp edges of a
  // polytope the estimate would be too far off.
  ONCE for (int pass = is_any_curved && a.shape < BOX && b.shape < BOX ? 0 : 1; pass < 2; pass++) {
    a.is_coarse = b.is_coarse = pass == 0;
    Simplex simplex;
    V3 normal, p, q;
    const Cores cores = find_nearest(here, a, b, limit + a.radius + b.radius, simplex, normal, p, q);
    if (cores == BEYOND) return false;
    if (cores == OVERLAPPING) penetrate(here, a, b, simplex, normal, p, q);
    a.is_coarse = b.is_coarse = false;
    V3 middle = R(0.5) * (p + q);
    real gap = dot(q - p, normal);
#if CURVED
    if (is_any_curved) polish(here, a, b, normal, gap, middle);
#endif
    if (gap < MISSED && find_shorter_way(here, a, b, normal, gap, middle)) {
#if CURVED
      if (is_any_curved) polish(here, a, b, normal, gap, middle);
#endif
    }
#if CURVED
    if (is_any_curved && pass == 0 && !is_peak(here, a, b, normal, gap)) continue;
#endif
    real distance = gap - a.radius - b.radius;
    found = Nearest{normal, middle + (R(0.5) * (a.radius - b.radius)) * normal, distance};
    return distance <= limit;
  }
  return false;
}
#endif
