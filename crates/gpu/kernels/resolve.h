// The velocities at the end of the step from those of free motion.

// Gathers the laws of the chosen constraints and what is remembered of them; `is_recovery`: for the velocities that move positions, with friction
// bounded by estimates of normal impulses.
PHASE void set_rows(const Here here, bool is_recovery) {
  WORLD;
  EACH(b, W.blocks) {
    for (int k = 0; k < 3; k++) {
      const int row = 3 * b + k, e = W.of_row[row];
      real r = 1, v_hat = 0, w = 1, low = 0, high = 0, z = W.v_free[row];
      if (e >= 0) {
        const Candidate& c = W.candidates[e];
        r = c.r_n, w = c.w;
        v_hat = is_recovery ? c.v_hat_recovery : c.v_hat;
#if SPINS
        if (b >= W.first_spin) {
          const real most = spin_friction(ROLLS && k < 2 ? 0 : 1, slot_of(4, c.id));
          if (FRICTION != COULOMB || is_recovery) low = most * (is_recovery ? c.extra[2] * c.extra[3] : c.extra[2]);
          else high = most;
          w = c.spin_w, r = w * R(SIGMA), v_hat = 0;
          if (c.flags & REMEMBERED) z = ROLLS ? dot(spin_axis(c, k), get3(c.spin_velocity)) : c.spin_velocity[0];
        } else
#endif
        if (c.flags & IS_CONTACT) {
          if (k < 2) r = c.extra[1], v_hat = 0;
          // What bounds friction: a known normal impulse, or the coefficient of friction and the normal impulse of the solution.
          const bool is_known = FRICTION == LAGGED || (FRICTION == COULOMB && is_recovery);
          if (is_known) low = slot_friction(c.id) * (is_recovery ? c.extra[2] * c.extra[3] : c.extra[2]);
          else high = slot_friction(c.id);
        } else if (c.flags & IS_THREE) {
          v_hat = c.extra[k];
          if (OF(0, c.id) != TIE_DISTANCE || k == 2) low = -INFINITE, high = INFINITE;
        } else {
          low = c.extra[0], high = c.extra[1];
        }
        if (c.flags & REMEMBERED && b < W.first_spin) {
          if (c.flags & IS_THREE) {
            real frame[9];
            frame_of(get3(c.normal), frame);
            z = dot(get3(frame + 3 * k), get3(c.free_velocity));
          } else {
            z = c.free_velocity[0];
          }
        }
      }
      W.r[row] = r, W.v_hat[row] = v_hat, W.w[row] = w, W.low[row] = low, W.high[row] = high, W.z[row] = z;
    }
  }
  SYNC;
}

// Notes what the constraints met.
PHASE void note_solution(const Here here) {
  WORLD;
  EACH(b, W.blocks) {
    if (b < W.threes) {
      Candidate& c = W.candidates[W.of_row[3 * b]];
      real frame[9];
      frame_of(get3(c.normal), frame);
      V3 impulse = get3(W.impulses + 3 * b), w = get3(W.w + 3 * b);
      V3 free = get3(W.v_c + 3 * b) - v3(w.x * impulse.x, w.y * impulse.y, w.z * impulse.z);
      put3(c.free_velocity, turn(frame, free));
      c.impulse = impulse.z;
      if (c.flags & IS_CONTACT) c.extra[3] = impulse.z > 0;
      c.flags |= REMEMBERED;
#if SPINS
    } else if (b >= W.first_spin) {
      V3 met = v3(0, 0, 0);
      ONCE for (int row = 3 * b; row < 3 * b + 3; row++) {
        if (W.of_row[row] < 0) continue;
        Candidate& c = W.candidates[W.of_row[row]];
        real free = W.v_c[row] - W.w[row] * W.impulses[row];
        met = met + free * spin_axis(c, row % 3);
        if (!ROLLS) c.spin_velocity[0] = free;
        else if (row == 3 * b + 2) put3(c.spin_velocity, met);
      }
#endif
    } else {
      ONCE for (int row = 3 * b; row < 3 * b + 3; row++)
        if (W.of_row[row] >= 0) {
          Candidate& c = W.candidates[W.of_row[row]];
          c.free_velocity[0] = W.v_c[row] - W.w[row] * W.impulses[row];
          c.impulse = W.impulses[row];
          c.flags |= REMEMBERED;
        }
    }
  }
  SYNC;
}

FN bool is_recovering(const Candidate& c) { return c.v_hat < c.v_hat_recovery; }

// The trees of islands where anything recovers; whether there are any.
PHASE bool find_recovering(const Here here) {
  WORLD;
  bool any = false;
  EACH(e, W.count) any |= is_recovering(W.candidates[e]);
  if (!any_of(here, any)) return false;
  EACH(t, TREES) W.recovers[t] = 0;
  SYNC;
  EACH(e, W.count) if (is_recovering(W.candidates[e])) {
    const Candidate& c = W.candidates[e];
    const bool is_sum = !(c.flags & (IS_CONTACT | IS_THREE));
    const int start = is_sum ? OF(1, c.id) : 0, end = is_sum ? OF(2, c.id) : 2;
    ONCE for (int k = start; k < end; k++) {
      const int node = is_sum ? term_of(2, k) : end_of(here, c, k);
      if (node >= 0) W.recovers[node_tree(node)] = 1;
    }
  }
  SYNC;
  combine_islands(here, RECOVERS);
  return true;
}

// Sets the velocities that move positions where constraints recover. No point of a body is moved faster by recovery than at its speed, and its
// island is slowed with it.
PHASE void take_recovery(const Here here) {
  WORLD;
  real* speed = W.scratch;
  // What recovery adds to the velocities.
  EACH(k, NV) W.x[k] += W.v_star[k] - W.v[k];
  SYNC;
  set_motions(here, LOADS);
  EACH(i, NODES) {
    Spatial motion = get6(LOAD(i));
    speed[i] = norm(velocity_at(motion, get3(W.pos[i]))) + norm(motion.ang) * node_extent(i);
  }
  SYNC;
  EACH(t, TREES) {
    W.fastest[t] = 0;
    ONCE for (int i = 0; i < NODES; i++)
      if (node_tree(i) == t) W.fastest[t] = max_(W.fastest[t], speed[i]);
  }
  SYNC;
  combine_islands(here, FASTEST_OF);
  EACH(k, NV) {
    const int t = dof_tree(k);
    real share = R(RECOVERY_SPEED) < W.fastest[t] ? R(RECOVERY_SPEED) / W.fastest[t] : R(1);
    if (W.recovers[t] > 0) W.v_of_q[k] = W.v[k] + share * W.x[k];
  }
  SYNC;
}

// Sets the problem of the constraints that are chosen.
FN void prepare(World& W, const Here here) {
  number_rows(here);
  set_free_velocities(here);
  carry(here);
  multiply(here);
}

PHASE bool choose_constraints(const Here here) {
  WORLD;
  EACH(k, NV) W.v[k] = W.v_of_q[k] = W.v_star[k];
  // Contacts stay from the first round of drives on; what they met in the step before counts again.
  EACH(e, W.near) {
    W.candidates[e].flags = IS_CONTACT | IS_THREE;
    recall(W, W.candidates[e]);
  }
  const bool are_uneven = any_in_group(here, is_uneven(0) > 0);
  if (are_uneven) EACH(t, TREES) W.heaviest[t] = tree_mass(0, t);
  SYNC;
  if (are_uneven) combine_islands(here, HEAVIEST);
  EACH(e, W.near) regularise_contact(W, here, W.candidates[e]);
  if (CONSTRAINTS > FIRST_LIMIT) constrain(here);
  else LEAD W.count = W.near;
  SYNC;
  return choose_first(here);
}

// The contact problem, in which every world goes its own way.
PHASE void resolve(const Here here) {
  WORLD;
  const real energy = energy_of_free_motion(here);
  // First for velocities, then once more for those that move positions, where anything recovers.
  bool is_recovery = false, is_open = true;
  ONCE for (int round = 0; round < MAX_ROUNDS; round++) {
    if (is_open) prepare(W, here);
    set_rows(here, is_recovery);
    bool is_solved = solve_contacts(here, energy);
    // One that was not solved once in this step is not looked at so closely again.
    if (!is_solved && !(IS_SINGLE && W.is_unsettled)) {
      set_rows(here, is_recovery);
      is_solved = solve_hard(here, energy);
    }
    LEAD W.is_unsettled |= !is_solved;
    if (!is_recovery) note_solution(here);
    set_response(here);
    if (!is_recovery) {
      EACH(k, NV) W.v[k] = W.v_of_q[k] = W.v_star[k] + W.x[k];
      SYNC;
    }
    is_open = choose_more(here, is_recovery);
    if (!is_open && is_recovery) {
      take_recovery(here);
      return;
    }
    if (!is_open) {
      if (!find_recovering(here)) return;
      is_recovery = true;
      round = -1;
    }
  }
  // More and more constraints push: what was found last stands.
  LEAD W.is_unsettled = 1;
  if (is_recovery) take_recovery(here);
  SYNC;
}
