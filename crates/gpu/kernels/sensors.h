// What sensors show: of positions and velocities at the end of a launch, of accelerations and forces those of its last step.

#if SENSORS
enum Reading {
  CLOCK, LENGTH, RATE, QUATERNION, BALL_RATE, POSITION, ORIENTATION, X_AXIS, Y_AXIS, Z_AXIS, VELOCITY, TURN, ACCELERATION, TURN_ACCELERATION,
  OWN_ACCELERATION, OWN_VELOCITY, OWN_TURN, MAGNETIC, SUBTREE_CENTRE, SUBTREE_VELOCITY, SUBTREE_SPIN, TOUCH, ACTUATOR_FORCE, JOINT_FORCE, NOTHING
};

FN real clamped(Impulse of, real change) { return clamp_(of.impulse - of.impedance * change, of.low, of.high); }

// The force of all actuators on a joint: those of one with an effort limit act together.
FN real joint_force(const World& W, const Here here, int v) {
  const real change = W.v[v] - W.v_start[v];
  real sum = 0;
#if SERVOS
  ONCE for (int k = 0; k < SERVOS; k++) {
    if (servo_of(1, k) != v) continue;
    real own = 0;
    ONCE for (int a = servo_of(2, k); a < servo_of(3, k); a++) {
      Impulse of = actuate(W, here, a, W.q[servo_of(0, k)], W.v_start[v]);
      own += clamp_(of.impulse, of.low, of.high);
    }
    sum += clamp_(own, servo_most(0, k), servo_most(1, k));
  }
#endif
#if DRIVES
  ONCE for (int k = 0; k < DRIVES; k++) {
    const int start = drive_of(2, k), end = drive_of(3, k);
    if (drive_of(1, k) != v || start == end) continue;
    if (drive_most(1, k) < INFINITE) sum += clamped(Impulse{W.drive[k][0], W.drive[k][1], W.drive[k][2], W.drive[k][3]}, change);
    else ONCE for (int a = start; a < end; a++) sum += clamped(actuate(W, here, a, W.q[drive_of(0, k)], W.v_start[v]), change);
  }
#endif
#if MOTORS
  ONCE for (int k = 0; k < MOTORS; k++) {
    real length = 0, rate = 0, own = 0;
    ONCE for (int t = motor_terms(0, k); t < motor_terms(1, k); t++) {
      length += W.q[term_of(0, t)] * term_coefficient(t), rate += W.v_start[term_of(1, t)] * term_coefficient(t);
      own += term_of(1, t) == v ? term_coefficient(t) : R(0);
    }
    Impulse of = actuate(W, here, FIRST_MOTOR + k, length, rate);
    sum += own * clamp_(of.impulse, of.low, of.high);
  }
#endif
#if TENDON_PARTS
  ONCE for (int k = FIRST_OTHER; k < CONSTRAINTS; k++) {
    if (OF(0, k) != TENDON_ACTUATOR) continue;
    real own = 0;
    ONCE for (int t = OF(1, k); t < OF(2, k); t++) own += term_of(1, t) == v ? term_coefficient(t) : R(0);
    if (own == 0) continue;
    real before = rate(W, here, k, W.v_start);
    Impulse of = actuate(W, here, FIRST_IN_CONSTRAINTS + OF(3, k), length(W, here, k), before);
    sum += own * clamped(of, rate(W, here, k, W.v) - before);
  }
#endif
  return sum * R(1 / DT);
}

// A number of sensor k within its limits.
FN void show(const World& W, const Here here, int k, int place, real x) {
  W.sensors[sensor_of(1, k) + place] = min_(max_(x, sensor_law(0, k)), sensor_law(1, k));
}
FN void show(const World& W, const Here here, int k, V3 v) {
  show(W, here, k, 0, v.x), show(W, here, k, 1, v.y), show(W, here, k, 2, v.z);
}

// Forces of actuators, where velocities are known that the forces of the step lead to.
PHASE void sense_actuators(const Here here) {
  WORLD;
  EACH(k, SENSORS) {
    const int kind = sensor_of(0, k);
    if (kind == JOINT_FORCE) show(W, here, k, 0, joint_force(W, here, sensor_of(3, k)));
    if (kind == ACTUATOR_FORCE) {
      real length = 0, start = 0, end = 0;
      ONCE for (int t = sensor_of(5, k); t < sensor_of(6, k); t++) {
        const real by = sensed_coefficient(t);
        length += by * W.q[sensed_term(0, t)], start += by * W.v_start[sensed_term(1, t)], end += by * W.v[sensed_term(1, t)];
      }
      show(W, here, k, 0, clamped(actuate(W, here, sensor_of(3, k), length, start), end - start) * sensor_law(2, k));
    }
  }
  SYNC;
}

// A frame in the world, its node, and how that moves; what is fixed does not.
struct Sensed { int node; V3 pos, arm; real rot[9]; Spatial twist; };
FN Sensed sensed(const World& W, const Here here, int frame) {
  Sensed f{sensed_frame(0, frame), AT3(frame_place, frame), v3(0, 0, 0), {}, Spatial{v3(0, 0, 0), v3(0, 0, 0)}};
  for (int k = 0; k < 9; k++) f.rot[k] = frame_place(3 + k, frame);
  if (f.node < 0) return f;
  for (int k = 0; k < 3; k++) put3(f.rot + 3 * k, turn(W.rot[f.node], get3(f.rot + 3 * k)));
  f.arm = get3(W.pos[f.node]) + turn(W.rot[f.node], f.pos);
  f.pos = get3(W.origin[node_tree(f.node)]) + f.arm, f.twist = get6(W.twist[f.node]);
  return f;
}
// The acceleration of a frame's origin less gravity.
FN V3 felt(const World& W, const Here here, const Sensed& f) {
  const V3 g = AT3(gravity, 0);
  if (f.node < 0) return -g;
  Spatial a = get6(FORCE(f.node)) + get6(LOAD(f.node));
  return velocity_at(a, f.arm) + cross(f.twist.ang, velocity_at(f.twist, f.arm)) - g;
}
// Its orientation, of the sign to which the rotations of joints multiply.
FN Quat orientation(const World& W, const Here here, int frame) {
  Quat all{frame_quat(0, frame), v3(frame_quat(1, frame), frame_quat(2, frame), frame_quat(3, frame))};
  ONCE for (int i = sensed_frame(0, frame); i >= 0; i = node_parent(i)) {
    const int joint = node_joint(i), q = node_q(i);
    Quat own{node_quat(0, i), v3(node_quat(1, i), node_quat(2, i), node_quat(3, i))};
    if (joint == REVOLUTE || joint == SCREW) {
      real s, c;
      sin_cos(R(0.5) * (W.q[q] - node_q_ref(i)), s, c);
      own = own * Quat{c, s * AT3(node_axis, i)};
    }
    if (joint == BALL) own = own * unit(quat(W.q + q));
    if (joint == FREE) own = unit(quat(W.q + q + 3));
    all = own * all;
  }
  return all;
}

// Whether the part of a line where a t² + 2 b t + c ≤ 0 lies ahead, cut down to what is between low and high.
FN bool is_within(real a, real b, real c, real& low, real& high) {
  if (a == 0) return c <= 0;
  real discriminant = b * b - a * c;
  if (discriminant < 0) return false;
  real root = sqrt_(discriminant);
  low = max_(low, (-b - root) / a), high = min_(high, (-b + root) / a);
  return true;
}
FN bool is_between_planes(real from, real along, real half, real& low, real& high) {
  if (along == 0) return abs_(from) <= half;
  real p = (-half - from) / along, q = (half - from) / along;
  low = max_(low, min_(p, q)), high = min_(high, max_(p, q));
  return true;
}
// Whether a ray meets the volume of a site, both in its frame.
FN bool is_hit(const Here here, int frame, V3 from, V3 along) {
  const int shape = sensed_frame(1, frame);
  const V3 size = AT3(frame_size, frame);
  real low = -INFINITE, high = INFINITE;
  bool is_any = true;
  if (shape == ELLIPSOID) {
    from = v3(from.x / size.x, from.y / size.y, from.z / size.z), along = v3(along.x / size.x, along.y / size.y, along.z / size.z);
    is_any = is_within(dot(along, along), dot(from, along), dot(from, from) - 1, low, high);
  }
  if (shape == SPHERE) is_any = is_within(dot(along, along), dot(from, along), dot(from, from) - size.x * size.x, low, high);
  if (shape == BOX)
    is_any = is_between_planes(from.x, along.x, size.x, low, high) && is_between_planes(from.y, along.y, size.y, low, high) &&
             is_between_planes(from.z, along.z, size.z, low, high);
  if (shape == CAPSULE || shape == CYLINDER) {
    V3 p = v3(from.x, from.y, 0), d = v3(along.x, along.y, 0);
    is_any = is_within(dot(d, d), dot(p, d), dot(p, p) - size.x * size.x, low, high) && is_between_planes(from.z, along.z, size.y, low, high);
  }
  if (is_any && low <= high && high >= 0) return true;
  ONCE for (int cap = 0; cap < 2 && shape == CAPSULE; cap++) {
    V3 p = from - v3(0, 0, cap ? size.y : -size.y);
    low = -INFINITE, high = INFINITE;
    if (is_within(dot(along, along), dot(p, along), dot(p, p) - size.x * size.x, low, high) && low <= high && high >= 0) return true;
  }
  return false;
}
// The sum of the normal forces on a body whose contact points, or rays from them along the normal, meet the volume of a site.
FN real touch(const World& W, const Here here, int frame, int body) {
  const Sensed f = sensed(W, here, frame);
  real sum = 0;
  ONCE for (int e = 0; e < W.near; e++) {
    const Candidate& c = W.candidates[e];
    const int pair = slot_of(0, c.id);
    if (!(c.flags & CHOSEN) || !(c.impulse > 0)) continue;
    const bool is_first = pair_bodies(0, pair) == body;
    if (!is_first && pair_bodies(1, pair) != body) continue;
    V3 n = get3(c.normal), p = get3(c.position);
    // What is fixed has the other body's own surface.
    if (pair_kind(0, pair) != 1) p = p - (R(0.5) * c.extra[0]) * n;
    if (is_hit(here, frame, turn_back(f.rot, p - f.pos), turn_back(f.rot, is_first ? n : -n))) sum += c.impulse;
  }
  return sum * R(1 / DT);
}

// Mass, mass moment about the world's origin, momentum about it of the nodes of a subtree.
FN void sum_subtree(const World& W, const Here here, int first, int end, real& mass, V3& moment, Spatial& p) {
  mass = 0, moment = v3(0, 0, 0), p = Spatial{moment, moment};
  ONCE for (int k = first; k < end; k++) {
    const int i = sensed_node(k);
    V3 origin = get3(W.origin[node_tree(i)]);
    Spatial own = momentum(W, here, i, get6(W.twist[i]));
    mass += node_mass(i), moment = moment + get3(W.moment[i]) + node_mass(i) * origin;
    p = p + Spatial{own.ang + cross(origin, own.lin), own.lin};
  }
}

// What all sensors show but those of forces of actuators; nodes are where positions are.
PHASE void sense(const Here here, real time) {
  WORLD;
  // Accelerations at zero joint accelerations, and what these add.
  set_motions(here, TWISTS);
  EACH(i, NODES) {
    Spatial swing = of_parent(W, here, W.twist, i), own = get6(W.twist[i]) - swing;
    put6(LOAD(i), joint_acceleration(here, i, swing, own));
  }
  EACH(k, NV) W.x[k] = (W.v[k] - W.v_start[k]) * R(1 / DT);
  SYNC;
  sum_down(here);
  EACH(i, NODES) for (int k = 0; k < 6; k++) FORCE(i)[k] = LOAD(i)[k];
  SYNC;
  set_motions(here, LOADS);
  EACH(k, SENSORS) {
    const int kind = sensor_of(0, k), a = sensor_of(3, k), b = sensor_of(4, k);
    if (kind == CLOCK) show(W, here, k, 0, time);
    if (kind == LENGTH || kind == RATE) {
      real sum = 0;
      ONCE for (int t = a; t < b; t++) sum += sensed_coefficient(t) * (kind == LENGTH ? W.q[sensed_term(0, t)] : W.v[sensed_term(1, t)]);
      show(W, here, k, 0, sum);
    }
    if (kind == QUATERNION) {
      Quat q = unit(quat(W.q + a));
      real* to = W.sensors + sensor_of(1, k);
      to[0] = q.w, put3(to + 1, q.v);
    }
    if (kind == BALL_RATE) show(W, here, k, get3(W.v + b));
    if (kind >= POSITION && kind <= TURN_ACCELERATION) {
      const Sensed f = sensed(W, here, a);
      V3 from = v3(0, 0, 0), shown = f.pos;
      Spatial carried{from, from};
      real axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      if (b >= 0) {
        const Sensed r = sensed(W, here, b);
        from = r.pos;
        // The reference carries the point along.
        carried = Spatial{r.twist.ang, velocity_at(r.twist, r.arm) + cross(r.twist.ang, f.pos - r.pos)};
        for (int j = 0; j < 9; j++) axes[j] = r.rot[j];
      }
      if (kind == POSITION) shown = f.pos - from;
      if (kind == X_AXIS) shown = get3(f.rot);
      if (kind == Y_AXIS) shown = get3(f.rot + 3);
      if (kind == Z_AXIS) shown = get3(f.rot + 6);
      if (kind == VELOCITY) shown = velocity_at(f.twist, f.arm) - carried.lin;
      if (kind == TURN) shown = f.twist.ang - carried.ang;
      if (kind == ACCELERATION) shown = felt(W, here, f);
      if (kind == TURN_ACCELERATION) shown = f.node < 0 ? v3(0, 0, 0) : get3(FORCE(f.node)) + get3(LOAD(f.node));
      if (kind == ORIENTATION) {
        Quat q = orientation(W, here, a);
        if (b >= 0) q = conjugate(orientation(W, here, b)) * q;
        real* to = W.sensors + sensor_of(1, k);
        to[0] = q.w, put3(to + 1, q.v);
      } else {
        show(W, here, k, kind == ACCELERATION || kind == TURN_ACCELERATION ? shown : turn_back(axes, shown));
      }
    }
    if (kind >= OWN_ACCELERATION && kind <= MAGNETIC) {
      const Sensed f = sensed(W, here, a);
      V3 shown = kind == OWN_ACCELERATION ? felt(W, here, f) : kind == OWN_VELOCITY ? velocity_at(f.twist, f.arm) : kind == OWN_TURN ? f.twist.ang : AT3(magnetic_field, 0);
      show(W, here, k, turn_back(f.rot, shown));
    }
    if (kind >= SUBTREE_CENTRE && kind <= SUBTREE_SPIN) {
      real mass;
      V3 moment;
      Spatial p;
      sum_subtree(W, here, a, b, mass, moment, p);
      real per_mass = mass > 0 ? 1 / mass : R(0);
      V3 centre = per_mass * moment;
      show(W, here, k, kind == SUBTREE_CENTRE ? centre : kind == SUBTREE_VELOCITY ? per_mass * p.lin : p.ang - cross(centre, p.lin));
    }
    if (kind == TOUCH) show(W, here, k, 0, touch(W, here, a, b));
    if (kind == NOTHING) ONCE for (int j = 0; j < sensor_of(2, k); j++) W.sensors[sensor_of(1, k) + j] = 0;
    if ((kind == ACTUATOR_FORCE || kind == JOINT_FORCE) && !W.has_stepped) show(W, here, k, 0, 0);
  }
  SYNC;
}
#endif
