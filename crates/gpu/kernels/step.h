// A step of a world.

// Whether velocities are of any motion that a step resolves.
FN bool are_fine(const World& W, const Here here) {
  bool is_fine = true;
  EACH(k, NV) is_fine &= abs_(W.v[k]) < R(FASTEST);
  EACH(i, NODES) if (BALLS + FREES && node_joint(i) >= BALL) {
    V3 turn = get3(W.v + node_v(i) + (node_joint(i) == FREE ? 3 : 0));
    is_fine &= dot(turn, turn) < R((LARGEST_TURN / DT) * (LARGEST_TURN / DT));
  }
  return !any_of(here, !is_fine);
}

// Keeps what was chosen in this step, and how contact points in reach that were not chosen move.
PHASE void remember(const Here here) {
  WORLD;
  int count = 0, pushing = 0;
  ONCE for (int base = 0; base < W.count; base += LANES) {
    const int e = base + here.lane;
    const unsigned flags = e < W.count ? W.candidates[e].flags : 0;
    const bool is_apart = flags & IS_CONTACT && !(flags & CHOSEN && flags & REMEMBERED);
    bool is_kept = is_apart || (flags & (CHOSEN | BOUNDED) && flags & REMEMBERED);
    unsigned yes = votes(here, is_kept);
    if (is_kept) {
      Candidate& c = W.candidates[e];
      if (is_apart) {
        c.impulse = 0;
        put3(c.free_velocity, relative(W, here, c, AT_END));
#if SPINS
        put3(c.spin_velocity, v3(0, 0, 0));
#endif
      }
      Met& to = W.met[count + place_of(here, yes)];
      to.id = c.id, to.impulse = c.impulse;
      for (int k = 0; k < 3; k++) to.free_velocity[k] = c.free_velocity[k];
#if SPINS
      put3(to.spin_velocity, get3(c.spin_velocity));
#endif
      pushing += c.impulse > 0;
    }
    count += count_bits(yes);
  }
  pushing = (int)sum_of(here, pushing);
  SYNC;
  LEAD {
    W.remembered = count;
    W.pushing = pushing;
  }
  SYNC;
}

// Free motion as it would be without contacts, up to v*.
PHASE void begin_step(const Here here) {
  WORLD;
  EACH(k, NQ) W.q_start[k] = W.q[k];
  EACH(k, NV) W.v_start[k] = W.v[k];
  LEAD W.is_unsettled = 0;
  if (any_in_group(here, !W.is_placed)) place(here);
  move_nodes(here);
  advance_activations(W, here);
  gather_impulses(here);
  add_impedances(here, false);
  factor(here);
#if IS_BALANCED
  // Coriolis forces are taken between v₀ and the end of free motion as it would be without: they are forces like all others from there on.
  bool turns = false;
  EACH(t, TREES) turns |= W.turns[t] != 0;
  if (any_in_group(here, turns)) {
    set_impulses(here, false);
    respond(here, CHANGES);
    add_polar_coriolis(here);
  }
#endif
}

// v*, with the drives that are no constraints.
FN void move_freely(World& W, const Here here) {
  if (DRIVES && has_saturated_drives(W, here)) {
    add_impedances(here, true);
    factor(here);
  }
  set_impulses(here, true);
  respond(here, CHANGES);
  EACH(k, NV) W.v_star[k] = W.v_start[k] + W.x[k];
  SYNC;
}

// Contacts, and velocities at the end of the step.
PHASE void find_velocities(const Here here) {
  WORLD;
  // Which points the step can reach does not depend on drives that turn out to be at their limits.
  move_freely(W, here);
  collide(here);
  bool pushes = choose_constraints(here);
  const Here own = alone(here);
  ONCE for (int round = 1;; round++) {
    if (pushes) resolve(own);
    if (!DRIVES || !saturate_drives(W, own)) break;
    if (round == MAX_DRIVE_ROUNDS) {
      LEAD W.is_unsettled = 1;
      break;
    }
    move_freely(W, own);
    pushes = choose_constraints(own);
  }
}

PHASE void end_step(const Here here) {
  WORLD;
  const bool is_fine = are_fine(W, here);
  set_motions(here, CHANGES);
  if (is_fine) remember(alone(here));
  SYNC;
#if SENSORS
  if (W.senses) sense_actuators(here);
#endif
#if IS_BALANCED
  note_due(here);
#endif
  advance(here);
  place(here);
#if IS_BALANCED
  balance(here);
#endif
  if (!is_fine) {
    // The world stays as it was.
    EACH(k, NQ) W.q[k] = W.q_start[k];
    EACH(k, NV) W.v[k] = W.v_start[k];
    EACH(k, ACTIVATIONS) W.act[k] = W.act_start[k];
  }
  LEAD {
    W.is_placed = is_fine, W.failed = !is_fine;
    W.unsettled += W.is_unsettled != 0;
  }
  SYNC;
}
