// Regularisation: R and v̂ of constraints from their compliance.

struct OneSided { real r, v_hat; bool is_rigid; };

// The law of a constraint with this gap and its share w of the Delassus operator; a spring of this stiffness unless that is negative.
FN OneSided one_sided(real gap, real w, real stiffness, real relaxation) {
  real rigid_r = w * R(NEAR_RIGID), rigid_v = min_(gap * R(-1 / NEAR_RIGID_TIME), R(RECOVERY_SPEED));
  if (stiffness < 0) return OneSided{rigid_r, rigid_v, true};
  real time = R(DT) + relaxation, r = recip(stiffness * R(DT) * time);
  bool is_rigid = !(rigid_r < r);
  return OneSided{is_rigid ? rigid_r : r, is_rigid ? rigid_v : -gap / time, is_rigid};
}

// R of an equality and v̂ over its violation, and how fast it may be righted at most.
struct TwoSided { real r, per_time, fastest; };
FN TwoSided two_sided(int kind, real stiffness, real relaxation, real w) {
  real rigid_r = w * R(NEAR_RIGID);
  TwoSided rigid{rigid_r, R(-1 / NEAR_RIGID_TIME), R(RECOVERY_SPEED)};
  if (kind == 0) return rigid;
  if (kind == 2) stiffness = stiffness / w;
  real time = R(DT) + relaxation, r = recip(stiffness * R(DT) * time);
  return rigid_r < r ? TwoSided{r, -recip(time), INFINITE} : rigid;
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

// The same along n alone, without what other bodies resist.
FN real bare_mobility(const World& W, const Here here, int node, V3 arm, V3 n) {
  V3 ang = turn_back(W.rot[node], cross(arm, n)), lin = turn_back(W.rot[node], n);
  real a[6], b[9], c[6];
  for (int k = 0; k < 6; k++) a[k] = bare_a(k, node), c[k] = bare_c(k, node);
  for (int k = 0; k < 9; k++) b[k] = bare_b(k, node);
  return dot(times(a, ang), ang) + 2 * dot(turn(b, lin), ang) + dot(times(c, lin), lin);
}

// The law of a contact.
FN void regularise_contact(World& W, const Here here, Candidate& c) {
  const int slot = c.id, pair = slot_of(0, slot), spring = pair_spring(pair);
  V3 p = get3(c.position), n = get3(c.normal);
  real gap = c.extra[0], w = 0, bare = 0, leverage = 0;
  int tree = 0;
  ONCE for (int end = 0; end < 2; end++) {
    const int node = slot_of(2 + end, slot);
    if (node < 0) continue;
    tree = node_tree(node);
    V3 arm = p - get3(W.origin[tree]) - get3(W.pos[node]);
    // A body is moved at its own surface.
    V3 own = pair_kind(0, pair) == 1 ? arm + ((end ? R(0.5) : R(-0.5)) * gap) * n : arm;
    w += mobility(W, here, node, own);
    real along = spring == 2 || node_has_fulcrum(node) ? bare_mobility(W, here, node, arm, n) : R(0);
    if (spring == 2) bare += along;
    leverage = max_(leverage, node_has_fulcrum(node) ? max_(along * mobility_lin(3, node), R(0)) : R(1));
  }
  // A contact between bodies of very different mass is regularised by the heavier one, so that it does not sink in.
  real stiff = is_uneven(0) > 0 ? max_(min_(w, W.heaviest[tree] * R(OVERLOAD)), w * R(STIFFEST)) : w;
  real stiffness = spring == 0 ? R(-1) : spring == 1 ? pair_law(0, pair) : pair_law(0, pair) / bare;
  OneSided law = one_sided(gap, stiff, stiffness, pair_law(1, pair));
  real depth = pair_law(2, pair);
  // Where the spring ends a stop begins.
  if (spring == 2 && gap < -depth) law = one_sided(gap + depth, stiff, R(-1), R(0));
  // Where a contact has a short lever, no point of a body may become much faster than the recovery itself.
  real fastest = min_(sqrt_(leverage) * R(LONGEST_LEVER), R(1)) * R(RECOVERY_SPEED);
  if (law.is_rigid) law.v_hat = min_(law.v_hat, fastest);
  set_law(c, law, w);
  c.extra[1] = stiff * R(SIGMA);
  c.extra[3] = 0;
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
  ONCE for (int m = 0; m < W.remembered; m++)
    if (met[m].id == c.id) {
      c.flags |= REMEMBERED;
      for (int k = 0; k < 3; k++) c.free_velocity[k] = met[m].free_velocity[k];
      c.impulse = met[m].impulse;
    }
}
