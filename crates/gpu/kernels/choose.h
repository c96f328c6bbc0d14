// Active set: constraints that push in free motion or are expected to, then those that push at the velocities found.

// What a velocity is taken from: free motion, the velocities found so far, or those that the step ends with, for which motions of nodes are set.
enum Velocities { IN_FREE_MOTION, AT_SOLUTION, AT_END };
FN Spatial motion_of(const World& W, int node, Velocities at) {
  if (at == AT_END) return get6(W.change[node]);
  Spatial motion = get6(W.twist[node]) + get6(W.change[node]);
  return at == AT_SOLUTION ? motion + get6(LOAD(node)) : motion;
}
FN int end_of(const Here here, const Candidate& c, int end) {
  return c.flags & IS_CONTACT ? slot_of(2 + end, c.id) : OF(1 + end, c.id);
}
// The velocity of the second body relative to the first: of points, or of rotation.
FN V3 relative(const World& W, const Here here, const Candidate& c, Velocities at) {
  V3 velocity = v3(0, 0, 0);
  ONCE for (int end = 0; end < 2; end++) {
    const int node = end_of(here, c, end);
    if (node < 0) continue;
    Spatial motion = motion_of(W, node, at);
    V3 own = c.flags & IS_TURN ? motion.ang : velocity_at(motion, get3(c.position) - get3(W.origin[node_tree(node)]));
    velocity = end ? velocity + own : velocity - own;
  }
  return velocity;
}
#if SPINS
// The angular velocity of the second body of a contact relative to the first, and the axes of rows of rolling and torsional friction.
FN V3 relative_turn(const World& W, const Here here, const Candidate& c, Velocities at) {
  V3 turn = v3(0, 0, 0);
  ONCE for (int end = 0; end < 2; end++) {
    const int node = end_of(here, c, end);
    if (node >= 0) turn = turn + (end ? R(1) : R(-1)) * motion_of(W, node, at).ang;
  }
  return turn;
}
#endif
FN V3 spin_axis(const Candidate& c, int row) {
  real frame[9];
  frame_of(get3(c.normal), frame);
  return !ROLLS || row == 2 ? get3(frame + 6) : row == 0 ? get3(frame) : get3(frame + 3);
}
// The rate of a row of joints.
FN real row_velocity(const World& W, const Here here, const Candidate& c, Velocities at) {
  real sum = 0;
  ONCE for (int t = OF(1, c.id); t < OF(2, c.id); t++) {
    const int dof = term_of(1, t);
    sum += (at == AT_SOLUTION ? W.v_star[dof] + W.x[dof] : W.v_star[dof]) * COEFFICIENT(t);
  }
  return sum;
}
// The velocity below whose v̂ a contact pushes. A cone pushes what slides before it comes near.
FN real closing_rate(const Here here, const Candidate& c, V3 velocity) {
  V3 n = get3(c.normal);
  real along = dot(velocity, n);
  if (FRICTION != SAP) return along;
  return along - slot_friction(c.id) * norm(velocity - along * n);
}

// Chooses a constraint; what cannot be moved at all is left out and counted.
FN bool choose(World& W, Candidate& c, int& stuck) {
  if (!(c.w > 0)) {
    stuck++;
    return false;
  }
  c.flags |= CHOSEN;
  return true;
}

// Chooses what pushes in free motion or is expected to push; whether there is any.
PHASE bool choose_first(const Here here) {
  WORLD;
  bool news = false;
  int stuck = 0;
  EACH(e, W.count) {
    Candidate& c = W.candidates[e];
    bool pushes, is_remembered = c.flags & REMEMBERED;
    if (c.flags & IS_CONTACT) {
      V3 velocity = relative(W, here, c, IN_FREE_MOTION);
      real alone = max_((c.v_hat - dot(velocity, get3(c.normal))) / (c.r_n + c.w), R(0));
      c.extra[2] = is_remembered ? c.impulse : alone;
      pushes = closing_rate(here, c, velocity) < c.v_hat_recovery;
      pushes |= is_remembered && closing_rate(here, c, get3(c.free_velocity)) < c.v_hat_recovery;
      // But under Coulomb's law what pushed in the step before has friction even where it parts now.
      pushes |= FRICTION != COULOMB && is_remembered && c.impulse > 0;
    } else if (c.flags & IS_LIMIT) {
      pushes = row_velocity(W, here, c, IN_FREE_MOTION) < c.v_hat_recovery;
      pushes |= is_remembered && c.free_velocity[0] < c.v_hat_recovery;
    } else {
      pushes = true;
      if (!(c.flags & IS_THREE) && is_remembered) {
        real whole = (c.v_hat - c.free_velocity[0]) / (c.r_n + c.w), low = c.extra[0], high = c.extra[1];
        real margin = (high - low) * R(EXPECTED_BEYOND);
        if (whole < low - margin || high + margin < whole) {
          c.flags |= BOUNDED;
          c.extra[2] = whole < low - margin ? low : high;
          pushes = false;
          news = true;
        }
      }
    }
    if (pushes) news |= choose(W, c, stuck);
  }
  stuck = (int)sum_of(here, stuck);
  LEAD W.is_unsettled |= stuck > 0;
  SYNC;
  return any_of(here, news);
}

// Chooses what pushes at the velocities found as well; whether there is any.
PHASE bool choose_more(const Here here, bool is_recovery) {
  WORLD;
  bool news = false;
  int stuck = 0;
  real error = 0, size = 0;
  EACH(e, W.count) {
    Candidate& c = W.candidates[e];
    if (c.flags & IS_CONTACT) {
      V3 found = relative(W, here, c, AT_SOLUTION);
      if (c.flags & CHOSEN) {
        // What W says of the normal velocity may differ from how bodies move by the digits that were lost.
        real velocity = dot(found, get3(c.normal));
        real own = velocity - (c.w * c.impulse + dot(get3(c.free_velocity), get3(c.normal)));
        error += own * own, size += velocity * velocity;
      } else if (closing_rate(here, c, found) < c.v_hat_recovery) {
        news |= choose(W, c, stuck);
      }
    } else if (c.flags & BOUNDED) {
      real velocity = row_velocity(W, here, c, AT_SOLUTION), at = c.extra[2];
      real impulse = clamp_((c.v_hat - velocity) / c.r_n, c.extra[0], c.extra[1]);
      if (impulse != at) {
        c.flags &= ~BOUNDED;
        news |= choose(W, c, stuck);
      } else if (!is_recovery) {
        c.free_velocity[0] = velocity - c.w * at;
        c.impulse = at;
        c.flags |= REMEMBERED;
      }
    } else if (!(c.flags & CHOSEN) && c.flags & IS_LIMIT) {
      if (row_velocity(W, here, c, AT_SOLUTION) < c.v_hat_recovery) news |= choose(W, c, stuck);
    }
  }
  EACH(k, 3 * W.blocks) size += W.v_free[k] * W.v_free[k];
  error = sum_of(here, error), size = sum_of(here, size), stuck = (int)sum_of(here, stuck);
  const real agreement = BY_PRECISION(TOLERANCE, 1e-2);
  bool disagrees = !is_recovery && agreement * agreement * size < error;
  LEAD W.is_unsettled |= disagrees || stuck > 0;
  SYNC;
  return any_of(here, news);
}
