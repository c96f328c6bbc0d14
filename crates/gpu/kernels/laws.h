// Regularisation: R and v̂ of constraints from their compliance.

struct OneSided { real r, v_hat; bool is_rigid; };

// γ = (v̂ − v)/R with v̂ = per_violation φ₀ + per_rate φ̇₀, no faster than `fastest`.
struct RowLaw { real r, per_violation, per_rate, fastest; bool is_rigid; };

// Where a spring with z = dt² k w is taken: at q₀ + dt (lead v₀ + reach (v − v₀)).
struct SpringPoint { real lead, reach; };
FN SpringPoint spring_point(real z) {
  real x = z * R(1 / UNRESOLVED), squared = min_(x * x, R(1e12)), lead = squared / (squared + 1);
  return SpringPoint{lead, lead * R(0.5) + R(0.5)};
}

// The same where no coupling can make z greater: with the right frequency, as far as a step resolves it.
FN SpringPoint spring_in_tune(real z) {
  real lead = spring_point(z).lead;
  return SpringPoint{lead, lead * R(11.0 / 12) + R(1.0 / 12)};
}

// What a damper takes from a velocity within a step, of which e⁻²ʰ is left: a mean of both ends that sees a mass h coth h times as large;
// (h coth h − 1)/h² and tanh h, over h.
struct Decay { real heavier, slower; };
FN Decay decay_over_step(real h) {
  h = min_(h, R(1e18));
  real squared = h * h, bend = recip(squared + 3), whole = sqrt_(bend * 3 + squared);
  return Decay{(squared + 2) * bend * recip(whole + 1), recip(whole)};
}

// A compliance: near-rigid (0), a spring (1) with stiffness and relaxation time, or a reference (2) with k, b and the course of its impedance.
struct Compliance { int kind; real of[7]; };

// The impedance of a reference at a violation of this size.
FN real impedance_of(const Compliance& c, real size) {
  real least = c.of[2], greatest = c.of[3], width = c.of[4], middle = c.of[5], power = c.of[6];
  if (!(width > 0)) return least;
  real x = min_(size / width, R(1));
  bool is_beyond = middle < x;
  real whole = is_beyond ? 1 - middle : middle, part = (is_beyond ? 1 - x : x) / whole;
  real raised = power == 1 ? part : power == 2 ? part * part : power_(part, power);
  real y = is_beyond ? 1 - raised * whole : raised * whole;
  return y * (greatest - least) + least;
}

// The law of a row with its share w of the Delassus operator, its inverse weight at rest, and a violation of this size, that pushes in the share
// `met` of the step.
FN RowLaw row_law(const Compliance& c, real w, real inverse_weight, real size, real met) {
  RowLaw rigid{w * R(NEAR_RIGID), R(-1 / NEAR_RIGID_TIME), R(0), R(RECOVERY_SPEED), true};
  if (c.kind == 0) return rigid;
  const real dt = R(DT);
  if (c.kind == 1) {
    real stiffness = c.of[0], rate = w * (dt * stiffness);
    SpringPoint point = spring_point(rate * dt);
    real damper = met * (R(0.5) * c.of[1]), h = rate * damper, reached = point.reach * dt;
    Decay decay = decay_over_step(h);
    real inerter = damper * h * decay.heavier + reached;
    damper += reached * h * decay.slower;
    real time = inerter + damper, r = recip(time * (dt * stiffness)), per_violation = -recip(time);
    return rigid.r < r ? RowLaw{r, per_violation, (damper - inerter + point.lead * dt) * per_violation, INFINITE, false} : rigid;
  }
  real d = impedance_of(c, size), k = c.of[0], b = c.of[1], r = inverse_weight * (1 - d) / d, spring = d * (dt * dt * k);
  SpringPoint point = spring_in_tune(spring * d);
  real damper = met * (R(0.5) * dt * b), h = damper * d, reached = spring * point.reach;
  Decay decay = decay_over_step(h);
  real inerter = damper * h * decay.heavier + (1 + reached);
  damper += reached * h * decay.slower;
  real per_whole = recip(inerter + damper), per_rate = (inerter - damper - spring * point.lead) * per_whole;
  return RowLaw{max_(r * per_whole, w * R(LEAST_R)), -(d * per_whole) * (dt * k), per_rate, INFINITE, false};
}

// The share of a step in which a row is met that closes at this rate, or has.
FN real share_met(real gap, real rate) {
  return rate < 0 ? min_(max_(gap / (rate * R(DT)) + R(0.5), R(0)), R(1)) : R(1);
}

// The law of a one-sided row. Where the gap is open a reference brakes no more than to where it just closes.
FN OneSided one_sided(const Compliance& c, real w, real inverse_weight, real gap, real rate) {
  RowLaw law = row_law(c, w, inverse_weight, abs_(gap), share_met(gap, rate));
  real v_hat = rate * law.per_rate + gap * law.per_violation;
  if (c.kind == 0 || law.is_rigid) v_hat = min_(gap * law.per_violation, law.fastest);
  else if (c.kind == 2 && !(gap < 0)) v_hat = min_(v_hat, gap * R(-1 / DT));
  return OneSided{law.r, v_hat, law.is_rigid};
}

// Sets a law. A near-rigid constraint that is violated far gets back in velocities what its own compliance has taken up, R times the impulse of
// the step before; the rest of its recovery moves positions alone.
FN void set_law(Candidate& c, OneSided law, real w) {
  real given_back = c.flags & REMEMBERED ? law.r * c.impulse : R(0);
  bool recovers = law.is_rigid && given_back + R(LEFT_IN_VELOCITIES * RECOVERY_SPEED) < law.v_hat;
  c.v_hat = recovers ? given_back : law.v_hat;
  c.v_hat_recovery = law.v_hat, c.r_n = law.r, c.w = w;
}

// How easily the point at `arm` from a node's origin is moved.
FN real mobility(const World& W, const Here here, int node, V3 arm) {
  V3 r = turn_back(W.rot[node], arm);
  real ang[6];
  for (int k = 0; k < 6; k++) ang[k] = mobility_ang(k, node);
  real trace = dot(AT3(mobility_mixed, node) + times(ang, r), r) + mobility_lin(0, node);
  return max_(trace, mobility_lin(1, node)) * R(MOBILITY_PER_TRACE);
}

// How much more easily it would be moved if drives and dampers did not resist.
FN real slack_of(const World& W, const Here here, int node, V3 arm) {
  V3 r = turn_back(W.rot[node], arm);
  real ang[6];
  for (int k = 0; k < 6; k++) ang[k] = slack_ang(k, node);
  return max_(dot(AT3(slack_mixed, node) + times(ang, r), r) + slack_lin(node), R(0)) * R(MOBILITY_PER_TRACE);
}

// How easily it is moved along n alone, without what other bodies resist.
FN real bare_mobility(const World& W, const Here here, int node, V3 arm, V3 n) {
  V3 ang = turn_back(W.rot[node], cross(arm, n)), lin = turn_back(W.rot[node], n);
  real a[6], b[9], c[6];
  for (int k = 0; k < 6; k++) a[k] = bare_a(k, node), c[k] = bare_c(k, node);
  for (int k = 0; k < 9; k++) b[k] = bare_b(k, node);
  return dot(times(a, ang), ang) + 2 * dot(turn(b, lin), ang) + dot(times(c, lin), lin);
}

// The law of a contact.
FN void regularise_contact(World& W, const Here here, Candidate& c) {
  const int slot = c.id, pair = slot_of(0, slot);
  Compliance surface{pair_spring(pair), {}};
  for (int k = 0; k < 7; k++) surface.of[k] = pair_law(k, pair);
  V3 p = get3(c.position), n = get3(c.normal);
  real gap = c.extra[0], w = 0, slack = 0, leverage = 0, closing = 0;
  int tree = 0;
#if SPINS
  c.spin_w = 0;
#endif
  ONCE for (int end = 0; end < 2; end++) {
    const int node = slot_of(2 + end, slot);
    if (node < 0) continue;
#if SPINS
    c.spin_w += mobility_lin(2, node);
#endif
    tree = node_tree(node);
    V3 at = p - get3(W.origin[tree]), arm = at - get3(W.pos[node]);
    // A body is moved at its own surface.
    V3 own = pair_kind(0, pair) == 1 ? arm + ((end ? R(0.5) : R(-0.5)) * gap) * n : arm;
    w += mobility(W, here, node, own);
    slack += slack_of(W, here, node, arm);
    if (surface.kind) {
      Spatial twist = get6(W.twist[node]);
      closing += (end ? R(1) : R(-1)) * dot(twist.lin + cross(twist.ang, at), n);
    }
    leverage = max_(leverage, node_has_fulcrum(node) ? max_(bare_mobility(W, here, node, arm, n) * mobility_lin(3, node), R(0)) : R(1));
  }
  // A contact between bodies of very different mass is regularised by the heavier one, so that it does not sink in.
  real free = w + min_(slack, w * R(FREEST - 1));
  real stiff = is_uneven(0) > 0 ? max_(min_(free, W.heaviest[tree] * R(OVERLOAD)), w * R(STIFFEST)) : free;
  OneSided law = one_sided(surface, stiff, pair_weight(pair) / c.extra[1], gap, closing);
  real depth = pair_law(7, pair);
  // Where the spring ends a stop begins.
  if (surface.kind && gap < -depth) law = one_sided(Compliance{0, {}}, stiff, 0, gap + depth, 0);
  // Where a contact has a short lever, no point of a body may become much faster than the recovery itself.
  real fastest = min_(sqrt_(leverage) * R(LONGEST_LEVER), R(1)) * R(RECOVERY_SPEED);
  if (law.is_rigid) law.v_hat = min_(law.v_hat, fastest);
  set_law(c, law, w);
  c.extra[1] = stiff * R(SIGMA);
  c.extra[3] = 0;
#if SPINS
  // What cannot turn resists no spin.
  if (slot_of(4, slot) >= 0 && c.spin_w > 0) c.flags |= HAS_SPIN;
#endif
}

// Lets every tree have the greatest of the numbers of all trees in its island, of mobilities the least; trees are joined by what the step can reach.
enum OfTrees { HEAVIEST, FASTEST_OF, RECOVERS };
PHASE void combine_islands(const Here here, OfTrees which) {
  WORLD;
  real* of_trees = which == HEAVIEST ? W.heaviest : which == FASTEST_OF ? W.fastest : W.recovers;
  if (TREES == 1) return;
  SYNC;
  LEAD {
    int* root = W.island;
#if TREES > 1
    ONCE for (int t = 0; t < TREES; t++) root[t] = t;
    ONCE for (int e = 0; e < JOINED + W.near; e++) {
      int a, b;
      if (e < JOINED) a = joined_trees(0, e), b = joined_trees(1, e);
      else {
        int i = slot_of(2, W.candidates[e - JOINED].id), j = slot_of(3, W.candidates[e - JOINED].id);
        if (i < 0 || j < 0) continue;
        a = node_tree(i), b = node_tree(j);
      }
      while (root[a] != a) a = root[a];
      while (root[b] != b) b = root[b];
      root[a > b ? a : b] = a < b ? a : b;
    }
    ONCE for (int t = 0; t < TREES; t++) {
      int r = t;
      while (root[r] != r) r = root[r];
      of_trees[r] = which != HEAVIEST ? max_(of_trees[r], of_trees[t]) : min_(of_trees[r], of_trees[t]);
    }
    ONCE for (int t = 0; t < TREES; t++) {
      int r = t;
      while (root[r] != r) r = root[r];
      of_trees[t] = of_trees[r];
    }
#endif
  }
  SYNC;
}

// What a constraint met in the step before, if it was there.
FN void recall(World& W, Candidate& c) {
  const Met* met = W.met;
  c.flags &= ~REMEMBERED;
  c.impulse = c.free_velocity[0] = c.free_velocity[1] = c.free_velocity[2] = 0;
#if SPINS
  put3(c.spin_velocity, v3(0, 0, 0));
#endif
  ONCE for (int m = 0; m < W.remembered; m++)
    if (met[m].id == c.id) {
      c.flags |= REMEMBERED;
      for (int k = 0; k < 3; k++) c.free_velocity[k] = met[m].free_velocity[k];
      c.impulse = met[m].impulse;
#if SPINS
      put3(c.spin_velocity, get3(met[m].spin_velocity));
#endif
    }
}
