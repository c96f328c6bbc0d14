// Contact points that the step can reach. Positions are where bodies are pushed: midway between two that move; normals point from the first
// geom to the second. Pairs that are near are found first; then each of their slots looks for its own point.

// Axes with a smaller sine squared between them may touch along a line.
#define NEARLY_PARALLEL R(0.0025)
// A point between two ends counts when it is nearer than both by this share of the radii; an overlap shorter than this share is one point.
#define NEARER R(1e-9)
#define SHORT R(0.1)
// Round bodies that approach by more than this share of the smaller one's radius in a step may pass each other: such steps are counted.
#define FAR R(0.5)

// A pair has no more slots than this.
#define SLOTS_A_PAIR 4

// Scratch of the phase: geoms in the world (place, axes, reach, how the centre moves in free motion, what forces change of that, how far points
// may be from where that leads), and pairs that are near.
#define GEOM(g) (W.scratch + 20 * (g))
#define HITS ((int*)(W.scratch + 20 * GEOMS))

struct Point { V3 position, normal; real distance; };

FN void place_geoms(World& W, const Here here) {
  EACH(g, GEOMS) {
    const int node = geom_kind(0, g);
    real* to = GEOM(g);
    put3(to, get3(W.origin[node_tree(node)]) + get3(W.pos[node]) + turn(W.rot[node], AT3(geom_pos, g)));
    for (int k = 0; k < 3; k++)
      put3(to + 3 + 3 * k, turn(W.rot[node], v3(geom_rot(3 * k, g), geom_rot(3 * k + 1, g), geom_rot(3 * k + 2, g))));
    Spatial now = get6(W.twist[node]), change = get6(W.change[node]);
    V3 arm = get3(to) - get3(W.origin[node_tree(node)]);
    put3(to + 16, R(DT) * velocity_at(change, arm));
    put3(to + 13, R(DT) * velocity_at(now, arm) + get3(to + 16));
    to[19] = norm(get3(to + 16)) + (norm(now.ang) + norm(change.ang)) * R(DT) * geom_radius(g);
    to[12] = norm(get3(to + 13)) + to[19] + geom_radius(g);
  }
  SYNC;
}

// How far apart the surfaces of a pair may be for its points to be of interest. Links of one tree that turn alike do not come nearer; of others
// each may be stopped. Points that meet lie within the smaller of the balls.
FN real limit_of(const World& W, const Here here, int pair) {
  const int a = pair_kind(1, pair), b = pair_kind(2, pair);
  if (pair_kind(0, pair) == 0) return GEOM(b)[12] - geom_radius(b) + pair_margin(pair);
  const real stray = GEOM(a)[19] + GEOM(b)[19], apart = norm(get3(GEOM(a) + 13) - get3(GEOM(b) + 13)) + stray;
  const int tree = node_tree(geom_kind(0, a));
  if (tree != node_tree(geom_kind(0, b))) return apart + pair_margin(pair);
  const bool is_first = geom_radius(a) <= geom_radius(b);
  const int small = is_first ? a : b, own = geom_kind(0, small), other = geom_kind(0, is_first ? b : a);
  Spatial now = get6(W.twist[other]), change = get6(W.change[other]);
  V3 arm = get3(GEOM(small)) - get3(W.origin[tree]), other_change = R(DT) * velocity_at(change, arm);
  V3 shift = get3(GEOM(small) + 13) - (R(DT) * velocity_at(now, arm) + other_change);
  real spin = norm(get6(W.twist[own]).ang - now.ang) + norm(get6(W.change[own]).ang) + norm(change.ang);
  real relative = norm(shift) + norm(get3(GEOM(small) + 16)) + norm(other_change) + spin * (R(DT) * geom_radius(small));
  return min_(relative, apart) + pair_margin(pair);
}

// Whether what the geoms may come to meets.
FN bool is_near(const World& W, const Here here, int pair) {
  const int a = pair_kind(1, pair), b = pair_kind(2, pair);
  const real most = GEOM(b)[12] + pair_margin(pair);
  if (pair_kind(0, pair) == 0) return dot(AT3(pair_plane, pair), get3(GEOM(b))) - pair_plane(3, pair) < most;
  V3 apart = get3(GEOM(b)) - get3(GEOM(a));
  return dot(apart, apart) <= (most + GEOM(a)[12]) * (most + GEOM(a)[12]);
}

// The four lowest corners of a box above a plane with normal n.
FN V3 lowest_corner(const real* at, V3 half, V3 n, int which) {
  V3 edges[3];
  real falls[3];
  const real sizes[3] = {half.x, half.y, half.z};
  // Half edges, each pointing down, the steepest first.
#pragma unroll
  for (int k = 0; k < 3; k++) {
    V3 along = sizes[k] * get3(at + 3 + 3 * k);
    real rise = dot(along, n);
    edges[k] = rise > 0 ? -along : along;
    falls[k] = rise > 0 ? -rise : rise;
  }
#pragma unroll
  for (int swap = 0; swap < 3; swap++) {
    const int i = swap == 1 ? 1 : 0, j = i + 1;
    if (falls[j] < falls[i]) {
      V3 e = edges[i];
      edges[i] = edges[j], edges[j] = e;
      real f = falls[i];
      falls[i] = falls[j], falls[j] = f;
    }
  }
  V3 p = get3(at), low = p + edges[0];
  if (which == 0) return low + edges[1] + edges[2];
  if (which == 1) return low + edges[1] - edges[2];
  if (which == 2) return low - edges[1] + edges[2];
  return falls[0] < falls[1] + falls[2] ? low - edges[1] - edges[2] : p - edges[0] + edges[1] + edges[2];
}

FN Point on_plane(const World& W, const Here here, int pair, int ordinal) {
  const int g = pair_kind(2, pair), shape = geom_kind(1, g);
  const real* at = GEOM(g);
  V3 n = AT3(pair_plane, pair), point = get3(at);
  if (shape == SPHERE) point = point - geom_size(0, g) * n;
  if (shape == CAPSULE) point = point + (ordinal ? -geom_size(1, g) : geom_size(1, g)) * get3(at + 9) - geom_size(0, g) * n;
  if (shape == BOX) point = lowest_corner(at, AT3(geom_size, g), n, ordinal);
  // The body is pushed half the gap beyond the middle between the surfaces, which is its own but for the margin.
  return Point{point - (R(0.5) * pair_margin(pair)) * n, n, dot(n, point) - pair_plane(3, pair)};
}

// Two balls.
FN Point of_balls(V3 p, real r, V3 q, real s, V3 way) {
  V3 d = q - p;
  real length = norm(d), distance = length - r - s;
  V3 normal = length > R(1e-12) ? recip(length) * d : way;
  return Point{p + (r + R(0.5) * distance) * normal, normal, distance};
}

// The contact of this ordinal of two spheres or capsules; those of nearly parallel capsules are the ends of their overlap. False if there is
// none.
FN bool between(const World& W, const Here here, int pair, int ordinal, real limit, Point& found) {
  const int a = pair_kind(1, pair), b = pair_kind(2, pair);
  const real *at = GEOM(a), *bt = GEOM(b);
  real r = geom_size(0, a), h = geom_size(1, a), s = geom_size(0, b), k = geom_size(1, b);
  V3 p = get3(at), q = get3(bt), u = get3(at + 9), v = get3(bt + 9), d = q - p;
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

// Adds the contact points that the step can reach to the candidates, in the order of the slots.
PHASE void collide(const Here here) {
  WORLD;
  W.near = 0;
#if SLOTS
  place_geoms(W, here);
  int hits = 0, near = 0;
  ONCE for (int base = 0; base < PAIRS; base += LANES) {
    const int k = base + here.lane;
    bool hit = k < PAIRS && is_near(W, here, k);
    unsigned yes = votes(here, hit);
    if (hit) HITS[hits + place_of(here, yes)] = k;
    hits += count_bits(yes);
  }
  SYNC;
  int lost = 0;
  bool is_far = false;
  ONCE for (int base = 0; any_in_group(here, base < SLOTS_A_PAIR * hits); base += LANES) {
    const int e = base + here.lane, ordinal = e % SLOTS_A_PAIR;
    const int pair = e < SLOTS_A_PAIR * hits ? HITS[e / SLOTS_A_PAIR] : 0, k = pair_slots(0, pair) + ordinal;
    real limit = limit_of(W, here, pair);
    Point point;
    bool is_there = e < SLOTS_A_PAIR * hits && ordinal < pair_slots(1, pair);
    if (is_there && pair_kind(0, pair) == 0) {
      point = on_plane(W, here, pair, ordinal);
      is_there = point.distance <= limit;
    } else if (is_there) {
      is_there = between(W, here, pair, ordinal, limit, point);
    }
    unsigned yes = votes(here, is_there);
    const int place = near + place_of(here, yes);
    near += count_bits(yes);
    if (is_there && place >= CONTACTS) lost++;
    if (is_there && place < CONTACTS) {
      Candidate& to = W.candidates[place];
      to.id = k;
      put3(to.position, point.position);
      put3(to.normal, point.normal);
      to.extra[0] = point.distance - pair_margin(pair);
      if (pair_kind(0, pair)) {
        const int i = slot_of(2, k), j = slot_of(3, k), a = pair_kind(1, pair), b = pair_kind(2, pair);
        V3 own = velocity_at(get6(W.twist[i]), point.position - get3(W.origin[node_tree(i)]));
        V3 other = velocity_at(get6(W.twist[j]), point.position - get3(W.origin[node_tree(j)]));
        is_far |= FAR * min_(geom_radius(a), geom_radius(b)) < dot(own - other, point.normal) * R(DT);
      }
    }
  }
  lost = (int)sum_of(here, lost);
  is_far = any_of(here, is_far);
  LEAD {
    W.near = near < CONTACTS ? near : CONTACTS;
    W.overflow += lost;
    W.coarse += is_far;
  }
  SYNC;
#endif
}
