// Constraints beside contacts: limits, equalities, tendons, dry friction and drives at their limits, as laws of the step.

// Columns of `constraint_of`: kind, terms or end nodes, extra, whether it is a spring (1) or a spring per mass (2).
#define OF(column, k) constraint_of(column, (k) - FIRST_LIMIT)
#define LAW(column, k) constraint_law(column, (k) - FIRST_LIMIT)
#define COEFFICIENT(t) ((t) < LIMIT_TERMS ? term_coefficient(t) : W.coefficient[(t) - LIMIT_TERMS])

FN real rate(const World& W, const Here here, int k, const real* v) {
  real sum = 0;
  ONCE for (int t = OF(1, k); t < OF(2, k); t++) sum += v[term_of(1, t)] * COEFFICIENT(t);
  return sum;
}
FN real length(const World& W, const Here here, int k) {
  real sum = 0;
  ONCE for (int t = OF(1, k); t < OF(2, k); t++) sum += W.q[term_of(0, t)] * COEFFICIENT(t);
  return sum;
}

// The mean of the diagonal of (Sᵀ Iᴬ S + Λ)⁻¹ of a joint, over those of its degrees of freedom that turn as `dof` does, or shift as it does.
FN real inverse_diagonal(const World& W, const Here here, int node, int dof) {
  const int v = node_v(node), nv = node_nv(node);
  if (nv == 1) return W.d_inv[v];
  // The last degree of freedom is eliminated first, so that the rotations of a free joint have given way when its translations do.
  const int a = dof < v + nv - 3 ? v : v + nv - 3, b = a + 1, c = a + 2;
  Spatial s = get6(W.axis[a]), t = get6(W.axis[b]), ub = get6(W.u[b]), uc = get6(W.u[c]);
  real ab = dot(s, ub) * W.d_inv[b], ac = dot(s, uc) * W.d_inv[c], bc = dot(t, uc) * W.d_inv[c], last = ac - ab * bc;
  real sum = W.d_inv[a] + W.d_inv[b] + ab * ab * W.d_inv[a] + W.d_inv[c] + bc * bc * W.d_inv[b] + last * last * W.d_inv[a];
  return sum * R(1.0 / 3);
}
FN real sum_mobility(const World& W, const Here here, int k) {
  real sum = 0;
  ONCE for (int t = OF(1, k); t < OF(2, k); t++) sum += inverse_diagonal(W, here, term_of(2, t), term_of(1, t)) * term_coefficient(t) * term_coefficient(t);
  return sum;
}

FN void set_bounds(Candidate& c, real low, real high) { c.extra[0] = low, c.extra[1] = high; }

// The law of a force `impulse − impedance (v − v₀)` within bounds; whether there is any.
FN bool set_force(World& W, const Here here, Candidate& c, real impulse, real impedance, real low, real high) {
  if (!(impedance > 0)) return false;
  c.w = sum_mobility(W, here, c.id);
  c.r_n = recip(impedance);
  c.v_hat = c.v_hat_recovery = rate(W, here, c.id, W.v_start) + impulse / impedance;
  set_bounds(c, low, high);
  return true;
}
#define WEIGHT(k) constraint_weight((k) - FIRST_LIMIT)
FN Compliance compliance_of(const Here here, int k) {
  Compliance c{OF(4, k), {}};
  for (int j = 0; j < 7; j++) c.of[j] = LAW(4 + j, k);
  return c;
}
// Dry friction; of a reference, which has no stiffness here, the part with the rate counts.
FN void set_friction(Candidate& c, const Here here, real w, real rate, real bound) {
  Compliance compliance = compliance_of(here, c.id);
  RowLaw law = row_law(compliance, w, WEIGHT(c.id), R(0), R(1));
  c.w = w, c.r_n = compliance.kind ? law.r : w * R(SIGMA), c.v_hat = c.v_hat_recovery = law.per_rate * rate;
  set_bounds(c, -bound, bound);
}
FN void set_limit(Candidate& c, int k, const Here here, real gap, real rate, real w) {
  set_law(c, one_sided(compliance_of(here, k), w, WEIGHT(k), gap, rate), w);
  set_bounds(c, 0, INFINITE);
}

#if TIES
// Position and axes of a frame in the world.
FN V3 place_frame(const World& W, const real* of, int node, const Here here, real* rot) {
  if (node < 0) {
    for (int k = 0; k < 9; k++) rot[k] = of[3 + k];
    return get3(of);
  }
  for (int k = 0; k < 3; k++) put3(rot + 3 * k, turn(W.rot[node], get3(of + 3 + 3 * k)));
  return get3(W.origin[node_tree(node)]) + get3(W.pos[node]) + turn(W.rot[node], get3(of));
}
// The quaternion of a rotation (Shepperd's choice of the largest pivot).
FN Quat of_matrix(const real* m) {
  real xx = m[0], yy = m[4], zz = m[8], trace = xx + yy + zz;
  if (trace >= max_(xx, max_(yy, zz))) return Quat{1 + trace, v3(m[5] - m[7], m[6] - m[2], m[1] - m[3])};
  if (xx >= max_(yy, zz)) return Quat{m[5] - m[7], v3(1 + xx - yy - zz, m[3] + m[1], m[2] + m[6])};
  if (yy >= zz) return Quat{m[6] - m[2], v3(m[3] + m[1], 1 + yy - zz - xx, m[7] + m[5])};
  return Quat{m[1] - m[3], v3(m[2] + m[6], m[7] + m[5], 1 + zz - xx - yy)};
}
FN V3 bounded(V3 v, real most) {
  real speed = norm(v);
  return most < speed ? (most / speed) * v : v;
}
// How a node moves about a point: J v, and its spatial acceleration at zero joint accelerations.
struct NodeMotion { Spatial twist, acceleration; };
FN NodeMotion motion_about(const World& W, const Here here, int node, V3 point) {
  NodeMotion of{{v3(0, 0, 0), v3(0, 0, 0)}, {v3(0, 0, 0), v3(0, 0, 0)}};
  if (node < 0) return of;
  of.twist = get6(W.twist[node]);
  ONCE for (int i = node; i >= 0; i = node_parent(i)) {
    Spatial above = of_parent(W, here, W.twist, i);
    of.acceleration = of.acceleration + joint_acceleration(here, i, above, get6(W.twist[i]) - above);
  }
  V3 arm = point - get3(W.origin[node_tree(node)]);
  of.twist.lin = of.twist.lin + cross(of.twist.ang, arm);
  of.acceleration.lin = of.acceleration.lin + cross(of.acceleration.ang, arm);
  return of;
}
// J̇ v of rows about a point of a node, as another node sees it that moves at `frame` about the same point.
FN Spatial bias_seen_from(const NodeMotion& frame, const NodeMotion& of) {
  Spatial relative = of.twist - frame.twist, difference = of.acceleration - frame.acceleration;
  return Spatial{difference.ang - cross(frame.twist.ang, relative.ang),
                 difference.lin + cross(relative.ang, of.twist.lin) - cross(frame.twist.ang, relative.lin)};
}
// Of the second node relative to the first at a point of the second, or of the first if the second does not move.
FN Spatial bias_acceleration(const World& W, const Here here, const int* nodes, V3 point) {
  NodeMotion first = motion_about(W, here, nodes[0], point), second = motion_about(W, here, nodes[1], point);
  return nodes[1] >= 0 ? bias_seen_from(first, second) : R(-1) * bias_seen_from(second, first);
}
FN bool constrain_tie(World& W, const Here here, Candidate& c, int kind) {
  const int k = c.id, tie = OF(3, k), nodes[2] = {OF(1, k), OF(2, k)};
  real of[12], first_rot[9], rot[9];
  for (int j = 0; j < 12; j++) of[j] = tie_frame_a(j, tie);
  V3 first = place_frame(W, of, nodes[0], here, first_rot);
  for (int j = 0; j < 12; j++) of[j] = tie_frame_b(j, tie);
  V3 second = place_frame(W, of, nodes[1], here, rot), span = second - first;
  // Rows are about one point of space, the second body's if it moves, else the first's.
  const V3 point = nodes[1] >= 0 ? second : first;
  V3 shift = v3(0, 0, 0), spin = shift;
  real w = 0;
  ONCE for (int end = 0; end < 2; end++) {
    const int node = nodes[end];
    if (node < 0) continue;
    V3 at = point - get3(W.origin[node_tree(node)]);
    Spatial twist = get6(W.twist[node]);
    const real sign = end ? R(1) : R(-1);
    shift = shift + sign * (twist.lin + cross(twist.ang, at));
    spin = spin + sign * twist.ang;
    if (kind == TIE_TURN) w += mobility_lin(2, node);
    else w += mobility(W, here, node, at - get3(W.pos[node]));
  }
  w *= R(MEAN);
  Compliance compliance = compliance_of(here, k);
  const real weld = LAW(1, k);
  V3 normal = v3(0, 0, 1), violation = span, speed = shift, apart = span, turned = v3(0, 0, 0);
  real half_sine = 0;
  if (kind == TIE_TURN || (weld > 0 && compliance.kind == 2)) {
    // Aᵀ B by columns.
    real between[9];
    for (int j = 0; j < 3; j++) put3(between + 3 * j, turn_back(first_rot, get3(rot + 3 * j)));
    Quat by = of_matrix(between);
    V3 angle = rotation_vector(by);
    real length = norm(angle);
    half_sine = abs_(sin_of(R(0.5) * length));
    // Of a reference the sine of the angle counts.
    if (compliance.kind == 2) angle = (length > 0 ? sin_of(length) / length : R(1)) * angle;
    turned = turn(first_rot, angle);
  }
  if (kind == TIE_TURN) violation = turned, speed = spin;
  if (kind == TIE_DISTANCE) {
    real length = norm(span);
    if (length > 0) normal = recip(length) * span;
    violation = apart = v3(0, 0, length - LAW(0, k));
    speed = v3(0, 0, dot(normal, shift));
  }
  real size = sqrt_(half_sine * weld * half_sine * weld + dot(apart, apart));
  RowLaw law = row_law(compliance, w, WEIGHT(k), size, R(1));
  V3 turned_by = v3(0, 0, 0);
  if (compliance.kind == 2) {
    Spatial of = bias_acceleration(W, here, nodes, point);
    V3 drift = kind == TIE_TURN ? of.ang : of.lin;
    if (kind == TIE_DISTANCE) {
      V3 across = shift - dot(normal, shift) * normal;
      real length = norm(span);
      drift = v3(0, 0, dot(normal, of.lin) + (length > 0 ? dot(across, across) / length : R(0)));
    }
    // Velocities are those half a step before and after the place of the rows.
    turned_by = R(DT / 2) * drift;
  }
  V3 bias = bounded(law.per_violation * violation + law.per_rate * (speed - turned_by), law.fastest) - turned_by;
  put3(c.position, point);
  put3(c.normal, normal);
  put3(c.extra, bias);
  c.w = w, c.r_n = law.r, c.v_hat = c.v_hat_recovery = 0;
  return w > 0;
}
#endif

#if COUPLINGS
FN bool constrain_coupling(World& W, const Here here, Candidate& c) {
  const int k = c.id, coupling = OF(3, k);
  real y = -coupling_law(0, coupling), x = -coupling_law(1, coupling), p = 0, slope = 0, w = 0;
  ONCE for (int e = coupling_parts(0, coupling); e < coupling_parts(1, coupling); e++)
    (part_of(1, e) ? x : y) += W.q[term_of(0, part_of(0, e))] * part_coefficient(e);
  ONCE for (int j = 4; j >= 0; j--) slope = slope * x + p, p = p * x + coupling_law(2 + j, coupling);
  ONCE for (int t = OF(1, k); t < OF(2, k); t++) W.coefficient[t - LIMIT_TERMS] = 0;
  ONCE for (int e = coupling_parts(0, coupling); e < coupling_parts(1, coupling); e++)
    W.coefficient[part_of(0, e) - LIMIT_TERMS] += (part_of(1, e) ? -slope : R(1)) * part_coefficient(e);
  ONCE for (int t = OF(1, k); t < OF(2, k); t++) w += COEFFICIENT(t) * COEFFICIENT(t) * W.d_inv[term_of(1, t)];
  real speed = rate(W, here, k, W.v_start), violation = y - p;
  RowLaw law = row_law(compliance_of(here, k), w, WEIGHT(k), abs_(violation), R(1));
  c.w = w, c.r_n = law.r;
  c.v_hat = c.v_hat_recovery = clamp_(speed * law.per_rate + violation * law.per_violation, -law.fastest, law.fastest);
  set_bounds(c, -INFINITE, INFINITE);
  return w > 0;
}
#endif

// Sets the law of a constraint beside contacts; whether it is there.
FN bool constrain_one(World& W, const Here here, Candidate& c) {
  const int k = c.id, kind = OF(0, k);
  const real ahead = R(2 * DT);
  if (kind == LIMIT) {
    const int t = OF(1, k), limit = OF(3, k), v = term_of(1, t);
    bool is_low = COEFFICIENT(t) > 0;
    real q = W.q[term_of(0, t)], gap = is_low ? q - limit_range(0, limit) : limit_range(1, limit) - q;
    if ((abs_(W.v_start[v]) + abs_(W.v_star[v])) * ahead < gap) return false;
    set_limit(c, k, here, gap, is_low ? W.v_start[v] : -W.v_start[v], W.d_inv[v]);
    return true;
  }
  if (DRY_JOINTS && kind == JOINT_FRICTION) {
    const int t = OF(1, k), v = term_of(1, t);
    set_friction(c, here, inverse_diagonal(W, here, term_of(2, t), v), W.v_start[v], dof_dry_friction(v));
    return true;
  }
#if DRIVES
  if (kind == DRIVE) {
    const real* of = W.drive[OF(3, k)];
    return of[4] > 0 && set_force(W, here, c, of[0], of[1], of[2], of[3]);
  }
#endif
#if BALL_LIMITS
  if (kind == BALL_LIMIT) {
    const int t = OF(1, k), node = term_of(2, t), v = node_v(node);
    V3 turn = rotation_vector(quat(W.q + node_q(node)));
    real angle = norm(turn), gap = ball_range(OF(3, k)) - angle;
    real reach = (norm(get3(W.v_start + v)) + norm(get3(W.v_star + v))) * ahead;
    V3 axis = (angle > 0 ? -recip(angle) : R(-1)) * turn;
    put3(W.coefficient + (t - LIMIT_TERMS), axis);
    set_limit(c, k, here, gap, dot(axis, get3(W.v_start + v)), inverse_diagonal(W, here, node, v));
    return !(reach < gap);
  }
#endif
#if COUPLINGS
  if (kind == COUPLING) return constrain_coupling(W, here, c);
#endif
#if TIES
  if (kind == TIE_POINT || kind == TIE_TURN || kind == TIE_DISTANCE) return constrain_tie(W, here, c, kind);
#endif
#if TENDON_PARTS
  if (kind == TENDON_LIMIT) {
    // Terms have the sign of the side, the bound has not.
    real gap = length(W, here, k) - LAW(0, k) * LAW(1, k);
    real start = rate(W, here, k, W.v_start), reach = (abs_(start) + abs_(rate(W, here, k, W.v_star))) * ahead;
    set_limit(c, k, here, gap, start, sum_mobility(W, here, k));
    return !(reach < gap);
  }
  if (kind == TENDON_SPRING) {
    real at = length(W, here, k), stretch = max_(at - LAW(3, k), R(0)) + min_(at - LAW(2, k), R(0));
    real stiffness = stretch != 0 ? LAW(0, k) : R(0), damping = LAW(1, k), speed = rate(W, here, k, W.v_start);
    SpringPoint point = spring_point(stiffness * WEIGHT(k) * R(DT * DT));
    real impulse = -(stiffness * stretch + (point.lead * stiffness * R(DT) + damping) * speed) * R(DT);
    return set_force(W, here, c, impulse, (point.reach * stiffness * R(DT) + damping) * R(DT), -INFINITE, INFINITE);
  }
  if (kind == TENDON_ARMATURE) return set_force(W, here, c, 0, LAW(0, k), -INFINITE, INFINITE);
  if (kind == TENDON_FRICTION) {
    set_friction(c, here, sum_mobility(W, here, k), rate(W, here, k, W.v_start), R(DT) * LAW(0, k));
    return true;
  }
  if (kind == TENDON_ACTUATOR) {
    Impulse of = actuate(W, here, FIRST_IN_CONSTRAINTS + OF(3, k), length(W, here, k), rate(W, here, k, W.v_start));
    return set_force(W, here, c, of.impulse, of.impedance, of.low, of.high);
  }
#endif
  return false;
}

// Adds the constraints beside contacts that the step can reach to the candidates, behind the contacts.
PHASE void constrain(const Here here) {
  WORLD;
  int count = W.near, lost = 0;
  ONCE for (int base = FIRST_LIMIT; base < CONSTRAINTS; base += LANES) {
    const int k = base + here.lane;
    Candidate c;
    bool is_there = false;
    if (k < CONSTRAINTS) {
      const int kind = OF(0, k);
      c.id = k;
      c.flags = kind == TIE_POINT || kind == TIE_DISTANCE ? IS_THREE : kind == TIE_TURN ? IS_THREE | IS_TURN
              : kind == LIMIT || kind == BALL_LIMIT || kind == TENDON_LIMIT ? IS_LIMIT : 0;
      put3(c.position, v3(0, 0, 0));
      put3(c.normal, v3(0, 0, 1));
      recall(W, c);
      is_there = constrain_one(W, here, c);
    }
    unsigned yes = votes(here, is_there);
    const int place = count + place_of(here, yes);
    count += count_bits(yes);
    if (is_there && place >= CANDIDATES) lost++;
    if (is_there && place < CANDIDATES) W.candidates[place] = c;
  }
  lost = (int)sum_of(here, lost);
  LEAD {
    W.count = count < CANDIDATES ? count : CANDIDATES;
    W.overflow += lost;
  }
  SYNC;
}
