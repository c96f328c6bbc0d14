// Contact points of spheres and capsules.

// Axes with a smaller sine squared between them may touch along a line.
#define NEARLY_PARALLEL R(0.0025)
// A point between two ends counts when it is nearer than both by this share of the radii; an overlap shorter than this share is one point.
#define NEARER R(1e-9)
#define SHORT R(0.1)
// Round bodies that approach by more than this share of the smaller one's radius in a step may pass each other: such steps are counted.
#define FAR R(0.5)

// `share` is that of a point's stiffness: less than 1 where there are more points than a line or a face needs.
// Of each of the three points of a line, and of an end where this is the sine squared of the line's slope: it has no middle where that is 1.
#define OF_LINE (R(2) / R(3))
#define OF_CAPSULE R(0.99)
FN real share_of_end(real level, real slope2) { return min_(level + (R(1) - level) / NEARLY_PARALLEL * slope2, 1); }
FN real share_of_middle(real level) { return R(2) * (R(1) - level); }
struct Point { V3 position, normal; real distance, share = 1; };
// A sphere, or a capsule: its axis and half its length.
struct Round { V3 pos, axis; real radius, half; };

// Two balls.
FN Point of_balls(V3 p, real r, V3 q, real s, V3 way) {
  V3 d = q - p;
  real length = norm(d), distance = length - r - s;
  V3 normal = length > R(1e-12) ? recip(length) * d : way;
  return Point{p + (r + R(0.5) * distance) * normal, normal, distance};
}

// The contact of this ordinal of two spheres or capsules; those of nearly parallel capsules are the ends of their overlap. False if there is
// none.
FN bool between(const Round& a, const Round& b, int ordinal, real limit, Point& found) {
  const real r = a.radius, h = a.half, s = b.radius, k = b.half;
  V3 p = a.pos, q = b.pos, u = a.axis, v = b.axis, d = q - p;
  real du = dot(d, u), dv = dot(d, v), uv = dot(u, v);
  if (h == 0) du = uv = 0;
  if (k == 0) dv = uv = 0;
  V3 across = cross(u, v);
  real sine2 = h > 0 && k > 0 ? dot(across, across) : R(1);
  if (ordinal > 0 && !(sine2 < NEARLY_PARALLEL)) return false;
  real along_a = clamp_(sine2 > R(1e-12) ? (du - uv * dv) * recip(sine2) : du, -h, h);
  real along_b = clamp_(uv * along_a - dv, -k, k);
  along_a = clamp_(uv * along_b + du, -h, h);
  V3 on_a = p + along_a * u, on_b = q + along_b * v, gap = on_b - on_a;
  real gap2 = dot(gap, gap), most = r + s + limit;
  if (gap2 > most * most) return false;
  V3 way = sine2 > R(1e-12) && h > 0 && k > 0 ? recip(sqrt_(sine2)) * across : v3(0, 0, 1);
  int left = ordinal;
  real nearest_end = INFINITE;
  if (sine2 < NEARLY_PARALLEL) {
    real reach = abs_(k * uv), low = uv > 0 ? -k : k;
    if (min_(du + reach, h) - max_(du - reach, -h) > SHORT * min_(r, s))
#pragma unroll 1
      for (int end = 0; end < 2; end++) {
        // Each end of the overlap is an end of one axis and its foot on the other.
        real own = end ? h : -h, other = end ? -low : low, foot = du + uv * other;
        bool is_within = abs_(foot) < h;
        V3 x = p + (is_within ? foot : own) * u, y = q + (is_within ? other : clamp_(uv * own - dv, -k, k)) * v;
        nearest_end = min_(nearest_end, norm(y - x));
        Point point = of_balls(x, r, y, s, way);
        if (point.distance <= limit) {
          if (left == 0) {
            found = point;
            return true;
          }
          left--;
        }
      }
  }
  if (left > 0 || !(sqrt_(gap2) < nearest_end - NEARER * (r + s))) return false;
  found = of_balls(on_a, r, on_b, s, way);
  return found.distance <= limit;
}
