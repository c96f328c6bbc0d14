// Contact points that the step can reach. Positions are where bodies are pushed: midway between two that move; normals point from the first
// geom to the second. Pairs that are near are found first; then each of their slots looks for its own point.

// A pair has no more slots than this.
#define SLOTS_A_PAIR 4

// Scratch of the phase: geoms that move, in the world (place, axes, reach, how the centre moves in free motion, what forces change of that, how far
// points may be from where that leads, centre), and pairs that are near: those in closed form from the front, others from the back.
#define GEOM(g) (W.scratch + 23 * (g))
#define CENTRE(g) get3(GEOM(g) + 20)
#define HITS ((unsigned short*)(W.scratch + 23 * GEOMS))

FN void place_geoms(World& W, const Here here) {
  EACH(g, GEOMS) {
    const int node = geom_kind(0, g);
    real* to = GEOM(g);
    put3(to, get3(W.origin[node_tree(node)]) + get3(W.pos[node]) + turn(W.rot[node], AT3(geom_pos, g)));
    for (int k = 0; k < 3; k++)
      put3(to + 3 + 3 * k, turn(W.rot[node], v3(geom_rot(3 * k, g), geom_rot(3 * k + 1, g), geom_rot(3 * k + 2, g))));
    put3(to + 20, get3(to) + (HULLS ? turn(to + 3, AT3(geom_centre, g)) : v3(0, 0, 0)));
    Spatial now = get6(W.twist[node]), change = get6(W.change[node]);
    V3 arm = get3(to + 20) - get3(W.origin[node_tree(node)]);
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
  if (pair_kind(0, pair) != 1) return GEOM(b)[12] - geom_radius(b) + pair_margin(pair);
  const real stray = GEOM(a)[19] + GEOM(b)[19], apart = norm(get3(GEOM(a) + 13) - get3(GEOM(b) + 13)) + stray;
  const int tree = node_tree(geom_kind(0, a));
  if (tree != node_tree(geom_kind(0, b))) return apart + pair_margin(pair);
  const bool is_first = geom_radius(a) <= geom_radius(b);
  const int small = is_first ? a : b, own = geom_kind(0, small), other = geom_kind(0, is_first ? b : a);
  Spatial now = get6(W.twist[other]), change = get6(W.change[other]);
  V3 arm = CENTRE(small) - get3(W.origin[tree]), other_change = R(DT) * velocity_at(change, arm);
  V3 shift = get3(GEOM(small) + 13) - (R(DT) * velocity_at(now, arm) + other_change);
  real spin = norm(get6(W.twist[own]).ang - now.ang) + norm(get6(W.change[own]).ang) + norm(change.ang);
  real relative = norm(shift) + norm(get3(GEOM(small) + 16)) + norm(other_change) + spin * (R(DT) * geom_radius(small));
  return min_(relative, apart) + pair_margin(pair);
}

// Whether what the geoms may come to meets.
FN bool is_near(const World& W, const Here here, int pair) {
  const int a = pair_kind(1, pair), b = pair_kind(2, pair);
  const real most = GEOM(b)[12] + pair_margin(pair);
  if (pair_kind(0, pair) == 0) return dot(AT3(pair_plane, pair), CENTRE(b)) - pair_plane(3, pair) < most;
#if OTHERS
  if (pair_kind(0, pair) == 2) {
    // The box around what is fixed.
    real rot[9];
    for (int k = 0; k < 9; k++) rot[k] = geom_rot(k, a);
    V3 beyond = absolute(turn_back(rot, CENTRE(b) - AT3(geom_pos, a)) - AT3(geom_centre, a)) - AT3(geom_half, a);
    beyond = v3(max_(beyond.x, 0), max_(beyond.y, 0), max_(beyond.z, 0));
    return dot(beyond, beyond) <= most * most;
  }
#endif
  V3 apart = CENTRE(b) - CENTRE(a);
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

FN Point on_plane(const World& W, const Here here, int pair, int ordinal, bool& is_there) {
  const int g = pair_kind(2, pair), shape = geom_kind(1, g);
  const real* at = GEOM(g);
  V3 n = AT3(pair_plane, pair), point = get3(at);
  real share = 1;
  if (shape == SPHERE) point = point - geom_size(0, g) * n;
  if (shape == CAPSULE) {
    const V3 axis = get3(at + 9);
    const real slope = dot(n, axis), along = ordinal == 2 ? R(0) : ordinal ? -geom_size(1, g) : geom_size(1, g);
    share = share_of_end(OF_CAPSULE, slope * slope);
    // Where it does not lie it has no middle.
    if (ordinal == 2) is_there = share < 1, share = share_of_middle(OF_CAPSULE);
    point = point + along * axis - geom_size(0, g) * n;
  }
  if (shape == BOX) point = lowest_corner(at, AT3(geom_size, g), n, ordinal);
  // The body is pushed half the gap beyond the middle between the surfaces, which is its own but for the margin.
  return Point{point - (R(0.5) * pair_margin(pair)) * n, n, dot(n, point) - pair_plane(3, pair), share};
}

FN Round round_geom(const World& W, const Here here, int g) {
  return Round{get3(GEOM(g)), get3(GEOM(g) + 9), geom_size(0, g), geom_size(1, g)};
}

// Adds the points that lanes have found to the candidates; where the one of this lane is.
FN int add_candidate(World& W, const Here here, bool is_there, int pair, int slot, const Point& point, int& near, int& lost) {
  unsigned yes = votes(here, is_there);
  const int place = near + place_of(here, yes);
  near += count_bits(yes);
  if (is_there && place >= CONTACTS) lost++;
  if (is_there && place < CONTACTS) {
    Candidate& to = W.candidates[place];
    to.id = slot;
    put3(to.position, point.position);
    put3(to.normal, point.normal);
    to.extra[0] = point.distance - pair_margin(pair);
    to.extra[1] = point.share;
  }
  return place;
}

#if OTHERS
FN Body body_of(const World& W, const Here here, int g) {
  Body body{geom_kind(1, g), geom_kind(2, g), AT3(geom_size, g), AT3(geom_half, g), AT3(geom_centre, g)};
  const int node = geom_kind(0, g);
  body.ball = geom_radius(g), body.rest_depth = geom_rest_depth(g);
  if (node < 0) {
    for (int k = 0; k < 9; k++) body.at.rot[k] = geom_rot(k, g);
    body.at.pos = AT3(geom_pos, g);
    body.centre = place_in(body.at, body.centre_within);
    body.translation = body.rotation = body.change = v3(0, 0, 0);
    return body;
  }
  const real* of = GEOM(g);
  for (int k = 0; k < 9; k++) body.at.rot[k] = of[3 + k];
  body.at.pos = get3(of), body.centre = get3(of + 20), body.change = get3(of + 16);
  body.translation = get3(of + 13) - body.change, body.rotation = R(DT) * get6(W.twist[node]).ang;
  return body;
}

// The contact points of a pair, midway between the surfaces where both move, else where the body is pushed; normals from the first geom to the
// second.
CALLED void find_points(const Here here, int pair, Points& found) {
  WORLD;
  const int kind = pair_kind(0, pair), side = pair_kind(3, pair);
  const real limit = limit_of(W, here, pair), margin = pair_margin(pair);
  const Body second = body_of(W, here, pair_kind(2, pair));
  found.count = 0;
  if (kind == 0) {
    collide_plane(here, AT3(pair_plane, pair), pair_plane(3, pair), second, limit, found);
  } else {
    const Body first = body_of(W, here, pair_kind(1, pair));
    // Shapes in the order of their kinds.
    const Body &a = side == 2 ? second : first, &b = side == 2 ? first : second;
    collide_bodies(here, a, a.at, b, b.at, limit, found);
    if (found.count > 0 && a.shape != FIELD) separate(here, a, b, limit, margin, found);
    if (side == 2)
      ONCE for (int k = 0; k < found.count; k++) found.of[k].normal = -found.of[k].normal;
  }
  if (kind != 1)
    ONCE for (int k = 0; k < found.count; k++) {
      Point& p = found.of[k];
      p.position = p.position + (R(0.5) * (p.distance - margin)) * p.normal;
    }
}

// Adds the contact points of pairs that are not in closed form: a lane finds those of a pair.
PHASE void collide_others(const Here here, int pairs, int& near, int& lost) {
  WORLD;
  ONCE for (int base = 0; any_in_group(here, base < pairs); base += LANES) {
    const int e = base + here.lane, pair = e < pairs ? HITS[HIT_ROOM - 1 - e] : 0;
    Points found;
    found.count = 0;
    if (e < pairs) find_points(here, pair, found);
    ONCE for (int k = 0; any_in_group(here, k < found.count); k++) {
      const bool is_there = k < found.count && k < pair_slots(1, pair);
      add_candidate(W, here, is_there, pair, pair_slots(0, pair) + k, is_there ? found.of[k] : Point{}, near, lost);
    }
    // The processor leaves a step with more points than slots to another.
    if (found.count > pair_slots(1, pair)) lost++;
  }
}
#endif

// Adds the contact points that the step can reach to the candidates, in the order of the slots.
PHASE void collide(const Here here) {
  WORLD;
  W.near = 0;
#if SLOTS
  place_geoms(W, here);
  int hits = 0, others = 0, near = 0, lost = 0;
  ONCE for (int base = 0; base < PAIRS; base += LANES) {
    const int k = base + here.lane;
    bool hit = k < PAIRS && is_near(W, here, k);
    const bool is_other = OTHERS && hit && pair_kind(3, k);
    unsigned yes = votes(here, hit && !is_other), of_others = votes(here, is_other);
    const int more = count_bits(yes), other_more = count_bits(of_others);
    if (hits + others + more + other_more > HIT_ROOM) {
      lost += hit;
      continue;
    }
    if (is_other) HITS[HIT_ROOM - 1 - others - place_of(here, of_others)] = k;
    else if (hit) HITS[hits + place_of(here, yes)] = k;
    hits += more, others += other_more;
  }
  SYNC;
  bool is_far = false;
  ONCE for (int base = 0; any_in_group(here, base < SLOTS_A_PAIR * hits); base += LANES) {
    const int e = base + here.lane, ordinal = e % SLOTS_A_PAIR;
    const int pair = e < SLOTS_A_PAIR * hits ? HITS[e / SLOTS_A_PAIR] : 0, k = pair_slots(0, pair) + ordinal;
    real limit = limit_of(W, here, pair);
    Point point;
    bool is_there = e < SLOTS_A_PAIR * hits && ordinal < pair_slots(1, pair);
    if (is_there && pair_kind(0, pair) == 0) {
      point = on_plane(W, here, pair, ordinal, is_there);
      is_there = is_there && point.distance <= limit;
    } else if (is_there) {
      is_there = between(round_geom(W, here, pair_kind(1, pair)), round_geom(W, here, pair_kind(2, pair)), ordinal, limit, point);
    }
    const int place = add_candidate(W, here, is_there, pair, k, point, near, lost);
    if (is_there && place < CONTACTS) {
      if (pair_kind(0, pair)) {
        const int i = slot_of(2, k), j = slot_of(3, k), a = pair_kind(1, pair), b = pair_kind(2, pair);
        V3 own = velocity_at(get6(W.twist[i]), point.position - get3(W.origin[node_tree(i)]));
        V3 other = velocity_at(get6(W.twist[j]), point.position - get3(W.origin[node_tree(j)]));
        is_far |= FAR * min_(geom_radius(a), geom_radius(b)) < dot(own - other, point.normal) * R(DT);
      }
    }
  }
#if OTHERS
  collide_others(here, others, near, lost);
#endif
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
