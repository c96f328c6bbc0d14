// Impulses of springs, dampers, actuators and PD control. What opposes motion is implicit, as part of Λ; a drive that is at a limit is a
// constraint instead.

// Activations at the end of the step, and what actuators act by in it.
FN void advance_activations(World& W, const Here here) {
#if ACTIVATIONS
  EACH(k, CONTROLS) W.input[k] = W.ctrl[k];
  SYNC;
  EACH(k, ACTIVATIONS) {
    int ctrl = activation_kind(0, k);
    real u = clamp_(W.ctrl[ctrl], activation_law(0, k), activation_law(1, k)), start = W.act[k];
    real next = start + (u - start * activation_law(3, k)) * activation_law(2, k);
    W.act_start[k] = start;
    W.act[k] = clamp_(next, activation_law(4, k), activation_law(5, k));
    W.input[ctrl] = activation_kind(1, k) ? W.act[k] : start;
  }
  SYNC;
#endif
}

struct Impulse { real impulse, impedance, low, high; };

// The impulse of an actuator along what it acts on, whose length and velocity are given.
FN Impulse actuate(const World& W, const Here here, int actuator, real length, real velocity) {
  int ctrl = actuator_kind(0, actuator);
  real u = clamp_(ACTIVATIONS ? W.input[ctrl] : W.ctrl[ctrl], actuator_ctrl_range(0, actuator), actuator_ctrl_range(1, actuator));
  real force = u * actuator_law(0, ctrl) + actuator_law(1, ctrl);
  if (actuator_kind(1, actuator)) force += length * actuator_law(2, ctrl) + velocity * actuator_law(3, ctrl);
  return Impulse{force * R(DT), actuator_law(4, ctrl), actuator_limits(0, actuator), actuator_limits(1, actuator)};
}

// q ⊞ `ahead` ⊟ `reference` of a joint, in the frame of the velocity; of rotations the shorter arc.
FN void difference(int joint, const real* reference, const real* q, const real* ahead, real* to) {
  if ((BALLS && joint == BALL) || (FREES && joint == FREE)) {
    const int offset = joint == FREE ? 3 : 0;
    ONCE for (int k = 0; k < offset; k++) to[k] = q[k] + ahead[k] - reference[k];
    Quat turn = conjugate(quat(reference + offset)) * quat(q + offset);
    put3(to + offset, rotation_vector(turn * rotation(get3(ahead + offset))));
  } else {
    to[0] = q[0] + ahead[0] - reference[0];
  }
}

#if HAS_PD
// The numbers that PD control has of a degree of freedom.
enum { PD_KP, PD_KD, PD_TARGET_VELOCITY, PD_IMPEDANCE, PD_MOST, PD_IS_LIMITED };

// Force of PD control, as `multibody::pd_law`.
FN real pd_force(const Here here, int v, real error, real velocity) {
  return -pd_number(PD_KP, v) * error - pd_number(PD_KD, v) * (velocity - pd_number(PD_TARGET_VELOCITY, v));
}

// Impulses of PD control, of positions where the present velocity leads. Without limits they are impulses like others.
FN void gather_pd(World& W, const Here here) {
  EACH(i, NODES) {
    const int q = node_q(i), v = node_v(i), nv = node_nv(i);
    bool acts = false;
    ONCE for (int k = v; k < v + nv; k++) W.pd_impulse[k] = 0, acts |= pd_number(PD_IMPEDANCE, k) > 0;
    if (acts) {
      real ahead[6], error[6];
      ONCE for (int k = 0; k < nv; k++) ahead[k] = R(DT) * W.v[v + k];
      difference(node_joint(i), W.pd_target + q, W.q + q, ahead, error);
      ONCE for (int k = 0; k < nv; k++)
        if (pd_number(PD_IMPEDANCE, v + k) > 0) {
          real impulse = R(DT) * pd_force(here, v + k, error[k], W.v[v + k]);
          if (pd_number(PD_IS_LIMITED, v + k) > 0) W.pd_impulse[v + k] = impulse;
          else W.impulse[v + k] += impulse;
        }
    }
  }
  SYNC;
}
#endif

#if DRIVES
// Drives, and which of them start the step as constraints.
FN void gather_drives(World& W, const Here here) {
  const Met* met = W.met;
  EACH(k, DRIVES) {
    const int q = drive_of(0, k), v = drive_of(1, k), start = drive_of(2, k), end = drive_of(3, k);
    real impulse = 0, impedance = 0, low = 0, high = 0, least = drive_most(0, k), most = drive_most(1, k);
    ONCE for (int a = start; a < end; a++) {
      Impulse of = actuate(W, here, a, W.q[q], W.v[v]);
      if (end - start > 1 && !actuator_kind(2, a)) of.impulse = of.low = of.high = clamp_(of.impulse, of.low, of.high);
      impulse += of.impulse, impedance += of.impedance, low += of.low, high += of.high;
    }
#if HAS_PD
    if (start == end) {
      impulse = W.pd_impulse[v], impedance = pd_number(PD_IS_LIMITED, v) > 0 ? pd_number(PD_IMPEDANCE, v) : R(0);
      low = -INFINITE, high = INFINITE, most = pd_number(PD_MOST, v), least = -most;
    }
#endif
    low = min_(max_(low, least), most), high = max_(min_(high, most), least);
    real is_saturated = 0;
    ONCE for (int m = 0; m < W.remembered; m++)
      if (met[m].id == FIRST_DRIVE + k)
        is_saturated = low * R(NEAR_DRIVE_LIMIT) < met[m].impulse && met[m].impulse < high * R(NEAR_DRIVE_LIMIT) ? R(0) : R(1);
    real* to = W.drive[k];
    to[0] = impulse, to[1] = impedance, to[2] = low, to[3] = high, to[4] = is_saturated;
  }
  SYNC;
}
#endif

// Impulses at q₀, v₀.
PHASE void gather_impulses(const Here here) {
  WORLD;
  EACH(k, NV) W.impulse[k] = W.v[k] * dof_resistance(k) + (W.applied_force ? R(DT) * W.applied_force[k] : R(0));
  SYNC;
#if SPRINGS
  EACH(k, SPRINGS) {
    const int joint = spring_joint(0, k), q = spring_joint(1, k), v = spring_joint(2, k);
    real reference[7], stretch[6], none[6] = {0, 0, 0, 0, 0, 0};
    for (int j = 0; j < 7; j++) reference[j] = spring_reference(j, k);
    difference(joint, reference, W.q + q, none, stretch);
    ONCE for (int j = 0; j < (joint == FREE ? 6 : joint == BALL ? 3 : 1); j++) W.impulse[v + j] += stretch[j] * spring_stiffness(j, k);
  }
  SYNC;
#endif
  // Several servos may act on a joint.
  LEAD {
#if SERVOS
    ONCE for (int k = 0; k < SERVOS; k++) {
      const int q = servo_of(0, k), v = servo_of(1, k);
      real sum = 0;
      ONCE for (int a = servo_of(2, k); a < servo_of(3, k); a++) {
        Impulse of = actuate(W, here, a, W.q[q], W.v[v]);
        sum += clamp_(of.impulse, of.low, of.high);
      }
      W.impulse[v] += clamp_(sum, servo_most(0, k), servo_most(1, k));
    }
#endif
#if MOTORS
    ONCE for (int k = 0; k < MOTORS; k++) {
      real length = 0, rate = 0;
      ONCE for (int t = motor_terms(0, k); t < motor_terms(1, k); t++)
        length += W.q[term_of(0, t)] * term_coefficient(t), rate += W.v[term_of(1, t)] * term_coefficient(t);
      Impulse of = actuate(W, here, FIRST_MOTOR + k, length, rate);
      real cut = clamp_(of.impulse, of.low, of.high);
      ONCE for (int t = motor_terms(0, k); t < motor_terms(1, k); t++) W.impulse[term_of(1, t)] += cut * term_coefficient(t);
    }
#endif
  }
  SYNC;
#if HAS_PD
  gather_pd(W, here);
#endif
#if DRIVES
  gather_drives(W, here);
#endif
}

// Λ with all drives, or with `leaves_out_saturated` those that are no constraints.
PHASE void add_impedances(const Here here, bool leaves_out_saturated) {
  WORLD;
  EACH(k, NV) {
    real lambda = dof_lambda(k);
#if DRIVES
    ONCE for (int d = 0; d < DRIVES; d++)
      if (drive_of(1, d) == k && !(leaves_out_saturated && W.drive[d][4] > 0)) lambda += W.drive[d][1];
#endif
    W.lambda[k] = lambda;
  }
  SYNC;
}

// Impulses as right-hand sides; with `has_drives` also those of drives that are no constraints.
PHASE void set_impulses(const Here here, bool has_drives) {
  WORLD;
  EACH(k, NV) {
    real x = W.impulse[k];
#if DRIVES
    ONCE for (int d = 0; d < DRIVES && has_drives; d++)
      if (drive_of(1, d) == k && W.drive[d][4] == 0) x += W.drive[d][0];
#endif
    W.x[k] = x;
  }
  SYNC;
}

FN bool has_saturated_drives(const World& W, const Here here) {
  bool any = false;
#if DRIVES
  EACH(k, DRIVES) any |= W.drive[k][4] > 0;
#endif
  return any_in_group(here, any);
}

// Makes constraints of the drives that are beyond a limit at the velocities found; whether there are any.
FN bool saturate_drives(World& W, const Here here) {
  bool any = false;
#if DRIVES
  EACH(k, DRIVES) {
    real* of = W.drive[k];
    const int v = drive_of(1, k);
    real impulse = of[0] - of[1] * (W.v[v] - W.v_start[v]);
    real slack = BY_PRECISION(1e-12, 1e-5) * max_(abs_(of[0]), abs_(impulse));
    if (of[4] == 0 && (of[3] + slack < impulse || impulse + slack < of[2])) of[4] = 1, any = true;
  }
  SYNC;
#endif
  return any_of(here, any);
}
