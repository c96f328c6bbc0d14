// Contact points of two flat features that face each other along a normal, and which few of many stand for all.
//
// Both features, convex polygons or segments, are projected along the normal. Every corner of the intersection of the two projections becomes a
// point, with the distance of the features along the normal there.

#if OTHERS
// A face whose normal is farther than this cosine from the contact normal has no usable height over it.
#define STEEP R(0.05)
// Two segments with a smaller sine between them overlap along a line.
#define ALONG R(0.05)
// Points that are nearer to one another are one, m.
#define REPEATED BY_PRECISION(1e-9, 1e-6)
// How much nearer a point must be along the normal to weigh as much as one farther out across it.
#define STEEPNESS R(4)
// Points that are as far out as others but for this share of the patch's width are as far out.
#define EVEN R(1e-4)
// The same holds for depths, where bodies overlap by less than this share of the width, and both points by half of the largest depth.
#define SHALLOW R(1e-2)

// Corners: across, across, along the normal. Height over the projection plane: base + gx x + gy y.
struct Slope { real base, gx, gy; };
FN real height_at(const Slope& s, V3 c) { return s.base + s.gx * c.x + s.gy * c.y; }

// The plane of a polygon, which is turned counter-clockwise; false when it stands too steeply.
CALLED bool plane_of(V3* corners, int n, Slope& slope) {
  V3 o = corners[0], normal = v3(0, 0, 0), last = corners[n - 1] - o;
  ONCE for (int k = 0; k < n; k++) {
    V3 now = corners[k] - o;
    normal = normal + cross(last, now);
    last = now;
  }
  if (abs_(normal.z) <= STEEP * norm(normal)) return false;
  if (normal.z < 0)
    ONCE for (int k = 0; k < n / 2; k++) {
      V3 swapped = corners[k];
      corners[k] = corners[n - 1 - k], corners[n - 1 - k] = swapped;
    }
  slope.gx = -normal.x / normal.z, slope.gy = -normal.y / normal.z;
  slope.base = o.z - slope.gx * o.x - slope.gy * o.y;
  return true;
}

// Twice the area of a triangle across the normal: positive when c is left of a → b.
FN real side_of(V3 a, V3 b, V3 c) { return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); }
FN V3 part_way(V3 a, V3 b, real t) { return a + t * (b - a); }

// What of a pair of features is reported, and how.
struct Seam { V3 origin, normal, t1, t2; real limit; int first; };
FN void add_corner(const Seam& seam, Points& points, real x, real y, real below, real above) {
  real distance = above - below;
  if (!(distance <= seam.limit)) return;
  V3 position = seam.origin + x * seam.t1 + y * seam.t2 + (R(0.5) * (above + below)) * seam.normal;
  // Where borders only just meet, clipping yields a corner twice.
  ONCE for (int k = seam.first; k < points.count; k++) {
    V3 apart = points.of[k].position - position;
    if (dot(apart, apart) < REPEATED * REPEATED) return;
  }
  add(points, position, seam.normal, distance);
}

// The part of a segment within a counter-clockwise polygon; false if there is none.
FN bool clip_segment(const V3* ends, const V3* clip, int n, real& low, real& high) {
  low = 0, high = 1;
  V3 start = clip[n - 1];
  ONCE for (int k = 0; k < n; k++) {
    real from = side_of(start, clip[k], ends[0]), to = side_of(start, clip[k], ends[1]);
    if (from < 0 && to < 0) return false;
    if (from < 0) low = max_(low, from / (from - to));
    else if (to < 0) high = min_(high, from / (from - to));
    start = clip[k];
  }
  return low <= high;
}

// Where the foot of c on a segment lies, from 0 to 1.
FN real foot_on(V3 c, V3 start, real dx, real dy, real dd) {
  return clamp_(((c.x - start.x) * dx + (c.y - start.y) * dy) / dd, 0, 1);
}

// The ends of the overlap of two nearly parallel segments.
FN void overlap_segments(const Seam& seam, const V3* p, const V3* q, Points& points) {
  real dx = p[1].x - p[0].x, dy = p[1].y - p[0].y, ex = q[1].x - q[0].x, ey = q[1].y - q[0].y;
  real dd = dx * dx + dy * dy, ee = ex * ex + ey * ey, across = dx * ey - dy * ex;
  if (!(dd > 0 && ee > 0) || across * across > ALONG * ALONG * dd * ee) return;
  const bool is_same = dx * ex + dy * ey > 0;
  V3 low = is_same ? q[0] : q[1], high = is_same ? q[1] : q[0];
  if ((high.x - p[0].x) * dx + (high.y - p[0].y) * dy < 0 || (low.x - p[1].x) * dx + (low.y - p[1].y) * dy > 0) return;
  // Each end of the overlap is an end of one segment and its foot on the other.
  ONCE for (int end = 0; end < 2; end++) {
    V3 own = p[end], other = end ? high : low;
    real on_p = foot_on(other, p[0], dx, dy, dd), on_q = foot_on(own, q[0], ex, ey, ee);
    bool is_within = on_p > 0 && on_p < 1;
    V3 below = is_within ? part_way(p[0], p[1], on_p) : own, above = is_within ? other : part_way(q[0], q[1], on_q);
    add_corner(seam, points, R(0.5) * (below.x + above.x), R(0.5) * (below.y + above.y), below.z, above.z);
  }
}

// Appends the corners of the overlap of the features of two bodies that face along a normal from the first to the second, as far as they are at
// most `limit` apart.
CALLED void clip_features(const Here here, const Placed& a, const Placed& b, V3 origin, V3 normal, real limit, Points& points) {
  V3 p[2 * CORNERS], q[CORNERS], spare[2 * CORNERS];
  int n = feature(here, a, normal, p), m = feature(here, b, -normal, q);
  if (n < 2 || m < 2) return;
  Seam seam{origin, normal, v3(0, 0, 0), v3(0, 0, 0), limit, points.count};
  tangents(normal, seam.t1, seam.t2);
  ONCE for (int k = 0; k < n; k++) {
    V3 c = p[k] - origin;
    p[k] = v3(dot(c, seam.t1), dot(c, seam.t2), dot(c, normal) + a.radius);
  }
  ONCE for (int k = 0; k < m; k++) {
    V3 c = q[k] - origin;
    q[k] = v3(dot(c, seam.t1), dot(c, seam.t2), dot(c, normal) - b.radius);
  }
  if (n == 2 && m == 2) return overlap_segments(seam, p, q, points);
  Slope below{0, 0, 0}, above{0, 0, 0};
  if (n > 2 && !plane_of(p, n, below)) return;
  if (m > 2 && !plane_of(q, m, above)) return;
  if (n == 2 || m == 2) {
    const V3 *ends = n == 2 ? p : q, *polygon = n == 2 ? q : p;
    real low, high;
    if (!clip_segment(ends, polygon, n == 2 ? m : n, low, high)) return;
    ONCE for (int end = 0; end < 2; end++) {
      V3 c = part_way(ends[0], ends[1], end ? high : low);
      if (n == 2) add_corner(seam, points, c.x, c.y, c.z, height_at(above, c));
      else add_corner(seam, points, c.x, c.y, height_at(below, c), c.z);
    }
    return;
  }
  // Sutherland–Hodgman: the first polygon is cut down to what lies within the second.
  V3 start = q[m - 1];
  ONCE for (int k = 0; k < m && n > 0; k++) {
    int kept = 0;
    V3 from = p[n - 1];
    real from_side = side_of(start, q[k], from);
    ONCE for (int j = 0; j < n; j++) {
      V3 to = p[j];
      real to_side = side_of(start, q[k], to);
      if ((from_side < 0) != (to_side < 0) && kept < 2 * CORNERS) spare[kept++] = part_way(from, to, from_side / (from_side - to_side));
      if (to_side >= 0 && kept < 2 * CORNERS) spare[kept++] = to;
      from = to, from_side = to_side;
    }
    ONCE for (int j = 0; j < kept; j++) p[j] = spare[j];
    n = kept, start = q[k];
  }
  ONCE for (int j = 0; j < n; j++) add_corner(seam, points, p[j].x, p[j].y, height_at(below, p[j]), height_at(above, p[j]));
}

// The first of the points that measure the most but for `even`; 0 where none is a number.
template <class Measure> FN int farthest_point(int count, real even, Measure measure) {
  real most = -INFINITE;
  ONCE for (int i = 0; i < count; i++) most = max_(most, measure(i));
  ONCE for (int i = 0; i < count; i++)
    if (measure(i) >= most - even) return i;
  return 0;
}
// How far to the left of the way from a to b a point is.
FN real left_of(const real* a, const real* b, const real* p) {
  const real ex = b[0] - a[0], ey = b[1] - a[1];
  return (ex * (p[1] - a[1]) - ey * (p[0] - a[0])) / sqrt_(ex * ex + ey * ey);
}
// How far along the way from a to b a point is.
FN real along(const real* a, const real* b, const real* p) {
  const real ex = b[0] - a[0], ey = b[1] - a[1];
  return (ex * (p[0] - a[0]) + ey * (p[1] - a[1])) / sqrt_(ex * ex + ey * ey);
}
// How far a point is from the one corner, from the way between two, outside the triangle of three, where this is positive.
FN real outside_corners(const real (*corners)[2], int n, const real* p) {
  const real *a = corners[0], *b = corners[1], *c = corners[2];
  if (n == 1) return sqrt_((p[0] - a[0]) * (p[0] - a[0]) + (p[1] - a[1]) * (p[1] - a[1]));
  if (n == 2) {
    const real aside = left_of(a, b, p), before = -min_(min_(along(a, b, p), along(b, a, p)), 0);
    return sqrt_(aside * aside + before * before);
  }
  const real turn = with_sign(1, left_of(a, b, c));
  return max_(max_(-turn * left_of(a, b, p), -turn * left_of(b, c, p)), -turn * left_of(c, a, p));
}
// Which points to keep of many, `at(i)` each: the one of the least height, and those that span the widest area across the normal, each farther out
// by its penalty beside that one. How many they are.
template <class At, class Height, class Penalty>
FN int choose_spread_by(int count, V3 normal, At at, Height height, Penalty penalty, int* chosen) {
  V3 t1, t2;
  tangents(normal, t1, t2);
  real corners[4][2] = {};
  int first = 0;
  real width = 0, depth = -INFINITE;
  ONCE while (first < count && at(first).distance == INFINITE) first++;
  const V3 origin = at(first < count ? first : 0).position;
  ONCE for (int i = 0; i < count; i++) {
    const Point p = at(i);
    if (p.distance == INFINITE) continue;
    const V3 d = p.position - origin;
    width = max_(width, dot(d, d)), depth = max_(depth, -height(p));
  }
  width = sqrt_(width);
  const real even = depth > 0 && depth < SHALLOW * width ? min_(EVEN * width, R(0.5) * depth) : 0;
  chosen[0] = farthest_point(count, even, [&](int i) { return -height(at(i)); });
  const Point base = at(chosen[0]);
  auto across = [&](const Point& p, real* to) {
    V3 d = p.position - base.position;
    to[0] = dot(d, t1), to[1] = dot(d, t2);
  };
  int n = 1;
  ONCE while (n < 4) {
    auto reach = [&](int i) {
      const Point p = at(i);
      real x[2];
      across(p, x);
      return outside_corners(corners, n, x) - penalty(p, base);
    };
    const int i = farthest_point(count, EVEN * width, reach);
    if (reach(i) <= EVEN * width) break;
    across(at(i), corners[n]);
    chosen[n++] = i;
  }
  // Two that are as far from the line of the first two: which of them goes first must not depend on the last digits.
  if (n == 4 && left_of(corners[0], corners[1], corners[2]) < 0) {
    const int third = chosen[2];
    chosen[2] = chosen[3], chosen[3] = third;
  }
  return n;
}
// The deepest, and those that span the widest area.
template <class At> FN int choose_spread(int count, V3 normal, At at, int* chosen) {
  auto height = [&](const Point& p) { return p.distance; };
  auto penalty = [&](const Point& p, const Point& deepest) { return STEEPNESS * max_(p.distance - deepest.distance, 0); };
  return choose_spread_by(count, normal, at, height, penalty, chosen);
}
// Keeps at most four points.
CALLED void spread(Points& points, V3 normal) {
  if (points.count <= 4) return;
  int chosen[4];
  const int n = choose_spread(points.count, normal, [&](int i) { return points.of[i]; }, chosen);
  Point kept[4];
  for (int k = 0; k < n; k++) kept[k] = points.of[chosen[k]];
  for (int k = 0; k < n; k++) points.of[k] = kept[k];
  points.count = n;
}
// Contact points are on a line where they are no farther from it, however that is computed: m, and of the cosine between normals.
#define ON_A_LINE BY_PRECISION(1e-9, 1e-6)
// Where all points lie on one line, as where a tread crosses triangles of flat ground, leaves its ends.
FN void keep_ends(Points& points) {
  if (points.count != 3 && points.count != 4) return;
  int first = 0, last = 0;
  real most = 0;
  for (int j = 1; j < points.count; j++)
    for (int i = 0; i < j; i++) {
      const V3 d = points.of[j].position - points.of[i].position;
      if (dot(d, d) > most) most = dot(d, d), first = i, last = j;
    }
  const Point a = points.of[first], b = points.of[last];
  const V3 way = b.position - a.position;
  for (int i = 0; i < points.count; i++) {
    const Point& p = points.of[i];
    const real part = dot(p.position - a.position, way) / most;
    const real aside = norm(p.position - a.position - part * way), over = abs_(p.distance - a.distance - part * (b.distance - a.distance));
    if (!(aside < ON_A_LINE && over < ON_A_LINE && dot(p.normal, a.normal) > 1 - ON_A_LINE)) return;
  }
  points.of[0] = a, points.of[1] = b, points.count = 2;
}
// Adds the middle of a line on which a shape rolls: on the line's ends alone it would roll on the one that bears more.
FN void add_middle(int a, int b, Points& points) {
  if (!(a == CAPSULE || a == CYLINDER || b == CAPSULE || b == CYLINDER)) return;
  keep_ends(points);
  if (points.count != 2) return;
  Point &p = points.of[0], &q = points.of[1];
  const real level = a == CYLINDER || b == CYLINDER ? OF_LINE : OF_CAPSULE;
  const real rise = q.distance - p.distance, share = share_of_end(level, rise * rise / dot(q.position - p.position, q.position - p.position));
  if (!(share < 1)) return;
  p.share = q.share = share;
  add(points, R(0.5) * (p.position + q.position), p.normal, R(0.5) * (p.distance + q.distance), share_of_middle(level));
}
#endif
