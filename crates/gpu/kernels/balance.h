// Energy and momentum at the end of a step: velocities are corrected so that both change by what forces and constraints do, however far bodies turn
// in the step.

#if IS_BALANCED
// Sums of a tree stand in rows of scratch, a row a node, before they are summed by columns.
#define TERM(i) (W.scratch + 17 * (i))
FN void sum_columns(World& W, const Here here, int tree, int columns, real* to) {
  SYNC;
  EACH(k, columns) {
    real sum = 0;
    ONCE for (int i = 0; i < NODES; i++)
      if (TREES == 1 || node_tree(i) == tree) sum += TERM(i)[k];
    to[k] = sum;
  }
  SYNC;
}

// What forces and constraints lead to in the step from v₀ to v, with inertia at its beginning: ½ vᵀM v + dt ½ (v₀ + v)·c and Σ Jᵀ (I J v + dt c).
PHASE void note_due(const Here here) {
  WORLD;
  bool any = false;
  EACH(t, TREES) any |= W.turns[t] != 0;
  if (!any_in_group(here, any)) return;
  ONCE for (int t = 0; t < TREES; t++) {
    if (!any_in_group(here, W.turns[t] != 0)) continue;
    EACH(i, NODES) {
      Spatial motion = get6(W.change[i]), start = get6(W.twist[i]), force = R(DT) * get6(W.coriolis[i]), p = momentum(W, here, i, motion);
      real* to = TERM(i);
      to[0] = R(0.5) * (dot(motion, p) + dot(start + motion, force));
      put6(to + 1, p + force);
      put3(to + 7, get3(W.moment[i]));
      put3(to + 10, momentum(W, here, i, motion - start).lin + force.lin);
      put3(to + 13, force.lin);
      to[16] = R(0.5) * dot(start, momentum(W, here, i, start));
    }
    sum_columns(W, here, t, 17, W.due[t]);
  }
  SYNC;
}

// The inverse of a symmetric matrix.
FN void inverse_of(const real* s, real* to) {
  real a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5];
  real x = d * f - e * e, y = c * e - b * f, z = b * e - c * d, k = recip(a * x + b * y + c * z);
  to[0] = x * k, to[1] = y * k, to[2] = z * k, to[3] = (a * f - c * c) * k, to[4] = (b * c - a * e) * k, to[5] = (a * d - b * b) * k;
}

// How a rigid body with this momentum moves: angular velocity, velocity of its centre of mass, energy.
struct Rigid { V3 ang, lin; real energy; };
FN Rigid as_one(const real* inverse, V3 ang, V3 lin, V3 moment, real per_mass) {
  V3 spin = ang - cross(per_mass * moment, lin), turn = times(inverse, spin), move = per_mass * lin;
  return Rigid{turn, move, R(0.5) * (dot(turn, spin) + dot(move, lin))};
}

// Corrects velocities where nodes are placed at the end of the step; steps that err by too much are counted.
PHASE void balance(const Here here) {
  WORLD;
  bool any = false;
  EACH(t, TREES) any |= W.turns[t] != 0;
  if (!any_in_group(here, any)) return;
  set_motions(here, CHANGES);
  ONCE for (int t = 0; t < TREES; t++) {
    if (!any_in_group(here, W.turns[t] != 0)) continue;
    const int root = tree_root(t), first = tree_dofs(0, t), last = tree_dofs(1, t);
    EACH(i, NODES) {
      Spatial motion = get6(W.change[i]), p = momentum(W, here, i, motion);
      real* to = TERM(i);
      to[0] = R(0.5) * dot(motion, p);
      put6(to + 1, p);
      put3(to + 7, get3(W.moment[i]));
      for (int k = 0; k < 6; k++) to[10 + k] = W.rotational[i][k];
    }
    const real* sums = W.scratch + 17 * NODES;
    sum_columns(W, here, t, 16, W.scratch + 17 * NODES);
    real geared = 0, geared_at_start = 0, recovery = 0, fastest = 0;
    EACH(k, NV) if (first <= k && k < last) {
      geared += W.v[k] * W.v[k] * dof_half_armature(k);
      geared_at_start += W.v_start[k] * W.v_start[k] * dof_half_armature(k);
      recovery = max_(recovery, abs_(W.v[k] - W.v_of_q[k]));
    }
    geared = sum_of(here, geared);
    geared_at_start = sum_of(here, geared_at_start);
    recovery = max_of(here, recovery);
    EACH(i, NODES) if (TREES == 1 || node_tree(i) == t) fastest = max_(fastest, dot(get6(W.change[i]).ang, get6(W.change[i]).ang));
    fastest = max_of(here, fastest);
    const real kinetic = sums[0], *inertia = sums + 10;
    const V3 ang = get3(sums + 1), lin = get3(sums + 4), moment = get3(sums + 7), none = v3(0, 0, 0);
    const real *due = W.due[t], half_mass = tree_mass(1, t), mass = tree_mass(2, t), per_mass = tree_mass(3, t), due_kinetic = due[0];
    const bool floats = tree_floats(t) && tree_has_mass(t);
    const V3 of_com = floats ? per_mass * lin : none, impulse = get3(due + 10), weight = R(DT) * mass * AT3(gravity, 0);
    const real carried = dot(of_com, of_com) * half_mass, own = kinetic + geared - carried;
    // External forces work along the motion of the centre of mass as it is at the end.
    const real work = R(0.5) * per_mass * dot(get3(due + 13), impulse);
    // Nothing but its weight pushes the tree or moves it. A body about its centre of mass is right as it is.
    const real little = BY_PRECISION(UNPUSHED, 1e-5), pushed = max_(dot(impulse - weight, impulse - weight), mass * recovery * (mass * recovery));
    const bool is_pushed = (dot(weight, weight) + mass * (kinetic + due[16])) * little * little < pushed;
    const bool flies = floats && W.turns[t] != 0 && 0 < dot(moment, moment) && !is_pushed;
    const V3 of_com_due = flies ? per_mass * get3(due + 4) : of_com;
    const real error = due_kinetic - kinetic + (flies ? work + carried - dot(of_com_due, of_com_due) * half_mass : R(0));
    // What stops in the step, at a contact or a limit, is not asked for a part of the little that is left of its energy.
    V3 of_com_at_start = floats ? per_mass * (get3(due + 4) - impulse) : none;
    const real own_at_start = due[16] + geared_at_start - dot(of_com_at_start, of_com_at_start) * half_mass;
    // Energy grows by more than what a step can find whose bodies turn so far.
    const bool bursts = own_at_start * R(LARGEST_GROWTH) < own && R((FAR / DT) * (FAR / DT)) < fastest;
    const bool errs = max_(own, own_at_start) * R(LARGEST_ERROR) < abs_(error) || bursts;
    // All that errs of a body by itself that is pushed is the energy of its spin.
    const bool is_set_right = tree_is_body(t) && is_pushed && fastest <= R((FAR_ALONE / DT) * (FAR_ALONE / DT));
    LEAD W.coarse += W.turns[t] && errs && !is_set_right;
    // All motion is scaled, but for that of the centre of mass.
    real ratio = own > 0 ? error / own + 1 : R(1);
    if (!errs) ratio = min_(max_(ratio, R(1 - LARGEST_ERROR)), R(1 / (1 - LARGEST_ERROR)));
    else if (is_set_right) ratio = min_(max_(ratio, R(1 / MAX_FACTOR_ALONE)), R(MAX_FACTOR_ALONE));
    real scale = sqrt_(max_(ratio, R(0)));
    V3 add_lin = of_com_due - scale * of_com, add_ang = none;
    if (tree_keeps_momentum(t)) {
      // The root takes the momentum that is due, and the motion within, which has none, is scaled to the rest of the energy.
      V3 centre = per_mass * moment;
      const real d = mass * dot(centre, centre);
      real about[6], inverse[6];
      about[0] = inertia[0] - d + mass * centre.x * centre.x, about[1] = inertia[1] + mass * centre.x * centre.y;
      about[2] = inertia[2] + mass * centre.x * centre.z, about[3] = inertia[3] - d + mass * centre.y * centre.y;
      about[4] = inertia[4] + mass * centre.y * centre.z, about[5] = inertia[5] - d + mass * centre.z * centre.z;
      inverse_of(about, inverse);
      Rigid now = as_one(inverse, ang, lin, moment, per_mass);
      Rigid then = as_one(inverse, get3(due + 1), get3(due + 4), get3(due + 7), per_mass);
      real whole = kinetic + geared, within = whole - now.energy, within_due = due_kinetic + work + geared - then.energy, most = R(SCALING * SCALING);
      bool is_scaled = whole * BY_PRECISION(LITTLE, 1e-3) < within && !(within_due * most < within) && !(within * most < within_due);
      if (is_scaled) {
        scale = sqrt_(max_(within_due / within, R(0)));
        add_ang = then.ang - scale * now.ang;
        add_lin = then.lin - scale * now.lin - cross(add_ang, centre);
        add_ang = turn_back(W.rot[root], add_ang);
      }
    }
    const V3 root_velocity = floats ? get3(W.v + first) : none;
    SYNC;
    EACH(k, NV) if (W.turns[t] && first <= k && k < last) {
      real v = W.v[k] * scale;
      const int j = k - first;
      if (tree_floats(t) && j < 6) {
        V3 add = j < 3 ? add_lin : add_ang;
        const int axis = j % 3;
        v += axis == 0 ? add.x : axis == 1 ? add.y : add.z;
      }
      W.v[k] = v;
    }
    // The centre of mass of what flies goes where its momentum takes it.
    if (flies) LEAD {
      real* q = W.q + node_q(root);
      V3 place = get3(W.origin[t]) + (R(DT) * (of_com_due - root_velocity) - per_mass * (moment - get3(due + 7)));
      put3(W.origin[t], place), put3(q, place);
    }
    SYNC;
  }
  SYNC;
}
#endif
