// The contact problem in contact space by a semismooth Newton method (Alart and Curnier).
//
// A constraint of velocity v_c and impulse λ meets its law if λ = γ̄(z) at z = v_c − w λ, γ̄ the law with R + w in place of R. So the solution is
// the root of F(z) = J v* + (W − w) γ̄(z) − z; with T = −∂γ̄/∂z a step solves (1 + T (W − w)) dλ = −T F.

// What is asked of solutions, as of lanes: of 64 bits the tolerance, of 32 bits what their digits allow.
#define EXCESS BY_PRECISION(EXCESS_OF_64, EXCESS_OF_32)
#define AT_START BY_PRECISION(AT_START_OF_64, AT_START_OF_32)
#define LATE AT_START
#define IS_CHECKED (!IS_SINGLE)
#define LEAST BY_PRECISION(1e-200, 1e-30)

#define STIFFNESS(row, scaling) recip(W.w[row] * (scaling) + W.r[row])
#define EXCESS_OF(row, scaling) (W.v_c[row] - W.w[row] * (scaling) * W.impulses[row] - W.z[row])
// The equations of the active blocks, as many as there is room for.
#define SYSTEM(row) (W.system + STRIDE * (row))

// Friction within a disc: the impulse over −z, and the direction of z where it slides, else zero.
struct Held { real per_speed, x, y; };
FN Held held(real x, real y, real bound, real k) {
  real speed = sqrt_(x * x + y * y);
  if (!(bound < speed * k)) return Held{k, 0, 0};
  real inverse = recip(speed);
  return Held{bound * inverse, x * inverse, y * inverse};
}

// The projection of K (v̂ − v) onto the friction cone in the norm of K⁻¹.
struct Projection { real impulse[3], per_speed, along, x, y, per_normal; };
FN Projection on_cone(const World& W, int b, const real* v, real k_t, real k_n) {
  const real* v_hat = W.v_hat + 3 * b;
  real mu = W.high[3 * b], x = v[0] - v_hat[0], y = v[1] - v_hat[1], lacks = v_hat[2] - v[2];
  real speed = sqrt_(x * x + y * y), reach = mu * speed + lacks;
  Projection p{{0, 0, 0}, 0, 0, 0, 0, 0};
  if (!(reach > 0)) return p;
  if (mu * k_n * lacks < speed * k_t) {
    real inverse = recip(speed);
    p.along = k_n * k_t / (mu * mu * k_n + k_t);
    p.impulse[2] = p.along * reach;
    p.per_speed = mu * p.impulse[2] * inverse;
    p.x = x * inverse, p.y = y * inverse, p.per_normal = p.along;
  } else {
    p.impulse[2] = k_n * lacks, p.per_speed = k_t, p.per_normal = k_n;
  }
  p.impulse[0] = -p.per_speed * x, p.impulse[1] = -p.per_speed * y;
  return p;
}

#if SPINS
// What rolling and torsional friction is at most in a row: where its contact's own normal impulse bounds it, `high` is a length.
FN real spin_bound(const World& W, int row, real normal) { return W.high[row] * normal + W.low[row]; }

// The impulses of rolling and torsional friction at velocities v, with 1/stiffness in place of R, and if asked for T and how they follow normal
// impulses.
FN void localise_spin(World& W, const Here here, int b, const real* v, real scaling, const real* normals, real* impulse, real* t) {
  ONCE for (int k = 0; k < 3; k++) {
    const int row = 3 * b + k;
    if (W.rows_of[b] == OF_ROLLING && k < 2) continue;
    const real stiffness = STIFFNESS(row, scaling), whole = -v[k] * stiffness;
    const real most = W.of_row[row] < 0 ? R(0) : spin_bound(W, row, normals[k]);
    impulse[k] = clamp_(whole, -most, most);
    bool is_free = -most < whole && whole < most;
    if (t) t[4 * k] = is_free ? stiffness : R(0), W.slope[row] = is_free || W.of_row[row] < 0 ? R(0) : with_sign(W.high[row], whole);
  }
  if (W.rows_of[b] != OF_ROLLING) return;
  const Held h = held(v[0], v[1], spin_bound(W, 3 * b, normals[0]), STIFFNESS(3 * b, scaling));
  impulse[0] = -h.per_speed * v[0], impulse[1] = -h.per_speed * v[1];
  if (!t) return;
  const real x = h.per_speed * h.x, y = h.per_speed * h.y;
  t[0] = h.per_speed - x * h.x, t[1] = t[3] = -x * h.y, t[4] = h.per_speed - y * h.y;
  W.slope[3 * b] = -W.high[3 * b] * h.x, W.slope[3 * b + 1] = -W.high[3 * b + 1] * h.y;
}
#endif

// λ = γ̄(z) and T.
PHASE void localise(const Here here, real scaling) {
  WORLD;
  EACH(b, W.first_spin) {
    const int first = 3 * b;
    real *t = W.t[b], *impulse = W.impulses + first;
    const real *z = W.z + first, *v_hat = W.v_hat + first;
    for (int k = 0; k < 9; k++) t[k] = 0;
    if (W.rows_of[b] == OF_BOUNDS) {
      for (int k = 0; k < 3; k++) {
        real stiffness = STIFFNESS(first + k, scaling), whole = (v_hat[k] - z[k]) * stiffness;
        real low = W.low[first + k], high = W.high[first + k];
        impulse[k] = clamp_(whole, low, high);
        if (low < whole && whole < high) t[4 * k] = stiffness;
      }
    } else if (FRICTION == SAP) {
      Projection p = on_cone(W, b, z, STIFFNESS(first, scaling), STIFFNESS(first + 2, scaling));
      real mu = W.high[first], across = mu * p.along, stretch = mu * across - p.per_speed;
      real x = stretch * p.x, y = stretch * p.y;
      for (int k = 0; k < 3; k++) impulse[k] = p.impulse[k];
      t[0] = x * p.x + p.per_speed, t[1] = t[3] = x * p.y, t[4] = y * p.y + p.per_speed;
      t[2] = t[6] = -across * p.x, t[5] = t[7] = -across * p.y, t[8] = p.per_normal;
    } else {
      // `low` of a contact is what bounds friction, `high` the coefficient of friction where its own normal impulse does.
      real k_t = STIFFNESS(first, scaling), lacks = v_hat[2] - z[2], k_n = lacks > 0 ? STIFFNESS(first + 2, scaling) : R(0);
      real normal = lacks > 0 ? lacks * k_n : R(0), mu = W.high[first], z1 = z[0] - v_hat[0], z2 = z[1] - v_hat[1];
      Held h = held(z1, z2, mu * normal + W.low[first], k_t);
      real along = -mu * k_n, x = h.per_speed * h.x, y = h.per_speed * h.y;
      // A weaker push lets it slide with less friction.
      t[0] = h.per_speed - x * h.x, t[1] = t[3] = -x * h.y, t[2] = along * h.x;
      t[4] = h.per_speed - y * h.y, t[5] = along * h.y, t[8] = k_n;
      impulse[0] = -h.per_speed * z1, impulse[1] = -h.per_speed * z2, impulse[2] = normal;
    }
  }
  SYNC;
#if SPINS
  EACH(i, W.blocks - W.first_spin) {
    const int b = W.first_spin + i;
    real normals[3];
    for (int k = 0; k < 9; k++) W.t[b][k] = 0;
    for (int k = 0; k < 3; k++) normals[k] = W.of_row[3 * b + k] < 0 ? R(0) : W.impulses[W.normal_of[3 * b + k]];
    localise_spin(W, here, b, W.z + 3 * b, scaling, normals, W.impulses + 3 * b, W.t[b]);
  }
  SYNC;
#endif
}

// γ(v_c), the impulses of the laws at the velocities themselves, of a block.
FN void impulse_at_velocity(World& W, const Here here, int b, real* gamma) {
  const int first = 3 * b;
  const real *v = W.v_c + first, *v_hat = W.v_hat + first, *r = W.r + first;
#if SPINS
  if (b >= W.first_spin) {
    real normals[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
      if (W.of_row[first + k] >= 0 && W.high[first + k] > 0) {
        const int n = W.normal_of[first + k];
        normals[k] = max_((W.v_hat[n] - W.v_c[n]) / W.r[n], 0);
      }
    return localise_spin(W, here, b, v, 0, normals, gamma, 0);
  }
#endif
  if (W.rows_of[b] == OF_BOUNDS) {
    for (int k = 0; k < 3; k++) gamma[k] = clamp_((v_hat[k] - v[k]) / r[k], W.low[first + k], W.high[first + k]);
  } else if (FRICTION == SAP) {
    Projection p = on_cone(W, b, v, recip(r[0]), recip(r[2]));
    for (int k = 0; k < 3; k++) gamma[k] = p.impulse[k];
  } else {
    real normal = max_((v_hat[2] - v[2]) / r[2], R(0)), x = v[0] - v_hat[0], y = v[1] - v_hat[1];
    Held h = held(x, y, W.high[first] * normal + W.low[first], recip(r[0]));
    gamma[0] = -h.per_speed * x, gamma[1] = -h.per_speed * y, gamma[2] = normal;
  }
}

// Lists the blocks that a step changes, as far as there is room; how many there are.
FN int find_active(World& W, const Here here) {
  int active = 0;
  ONCE for (int base = 0; base < W.blocks; base += LANES) {
    const int b = base + here.lane;
    bool is_active = false;
    if (b < W.blocks) {
      const real* t = W.t[b];
      is_active = abs_(t[0]) + abs_(t[4]) + abs_(t[8]) + abs_(t[2]) + abs_(t[5]) > 0;
#if SPINS
      if (b >= W.first_spin)
        for (int row = 3 * b; row < 3 * b + 3; row++)
          if (W.of_row[row] >= 0) is_active |= abs_(W.slope[row]) * W.t[W.normal_of[row] / 3][8] > 0;
#endif
    }
    unsigned yes = votes(here, is_active);
    const int place = active + place_of(here, yes);
    if (is_active && place < ACTIVE_BLOCKS) W.active[place] = b;
    active += count_bits(yes);
  }
  SYNC;
  return active < ACTIVE_BLOCKS ? active : ACTIVE_BLOCKS;
}

// Row `row` of W times x, whose entries are those of all rows.
FN real row_times(const World& W, int row, const real* x) {
  real sum = 0;
  const real* own = W.delassus + lower(row, 0);
  ONCE for (int c = 0; c <= row; c++) sum += own[c] * x[c];
  ONCE for (int c = row + 1, at = lower(row + 1, row); c < 3 * W.blocks; at += ++c) sum += W.delassus[at] * x[c];
  return sum;
}

// v_c = J v* + W λ
PHASE void set_velocities(const Here here) {
  WORLD;
  EACH(row, 3 * W.blocks) W.v_c[row] = W.v_free[row] + row_times(W, row, W.impulses);
  SYNC;
}

// 1 + T (W − w) and −T F of the active blocks.
PHASE void assemble(const Here here, int active, real scaling) {
  WORLD;
  EACH(e, 3 * active) {
    const int b = W.active[e / 3], k = e % 3;
    const real t0 = W.t[b][3 * k], t1 = W.t[b][3 * k + 1], t2 = W.t[b][3 * k + 2];
    real* to = SYSTEM(e);
    ONCE for (int j = 0; j < active; j++) {
      const int c = W.active[j];
#pragma unroll
      for (int i = 0; i < 3; i++)
        to[3 * j + i] = t0 * delassus(W, 3 * b, 3 * c + i) + t1 * delassus(W, 3 * b + 1, 3 * c + i) + t2 * delassus(W, 3 * b + 2, 3 * c + i);
    }
    real* own = to + 3 * (e / 3);
    own[0] -= t0 * W.w[3 * b] * scaling, own[1] -= t1 * W.w[3 * b + 1] * scaling, own[2] -= t2 * W.w[3 * b + 2] * scaling;
#if SPINS
    // Rolling and torsional friction follows the normal impulse of its contact.
    const int row = 3 * b + k, n = W.normal_of[row];
    const real slope = b >= W.first_spin && W.of_row[row] >= 0 ? W.slope[row] * W.t[n / 3][8] : R(0);
    if (slope != 0)
      ONCE for (int j = 0; j < active; j++)
        for (int i = 0; i < 3; i++) {
          const int column = 3 * W.active[j] + i;
          to[3 * j + i] += slope * (delassus(W, n, column) - (column == n ? W.w[n] * scaling : R(0)));
        }
    const real of_normal = slope != 0 ? slope * EXCESS_OF(n, scaling) : R(0);
#else
    const real of_normal = 0;
#endif
    own[k] += 1;
    W.step[e] = -of_normal - (t0 * EXCESS_OF(3 * b, scaling) + t1 * EXCESS_OF(3 * b + 1, scaling) + t2 * EXCESS_OF(3 * b + 2, scaling));
  }
  SYNC;
}

// The inverse of the diagonal block of rows p, p + 1, p + 2, by cofactors, rows one after the other: the block is near the identity, or far from
// singular.
FN void invert_pivot(const World& W, int p, real* to) {
  const real *m0 = SYSTEM(p) + p, *m1 = SYSTEM(p + 1) + p, *m2 = SYSTEM(p + 2) + p;
  const real a = m0[0], b = m0[1], c = m0[2], d = m1[0], e = m1[1], f = m1[2], g = m2[0], h = m2[1], i = m2[2];
  const real x = e * i - f * h, y = f * g - d * i, z = d * h - e * g, s = recip(a * x + b * y + c * z);
  to[0] = x * s, to[1] = (c * h - b * i) * s, to[2] = (b * f - c * e) * s, to[3] = y * s, to[4] = (a * i - c * g) * s;
  to[5] = (c * d - a * f) * s, to[6] = z * s, to[7] = (b * g - a * h) * s, to[8] = (a * e - b * d) * s;
}

// Solves the system by blocks of three rows (Gauss and Jordan); the solution is `step` afterwards. A lane has a row, and takes the pivot's rows as
// they are from it: one barrier to a pivot.
PHASE void eliminate(const Here here, int active) {
  WORLD;
  const int n = 3 * active;
  real inverse[9];
  ONCE for (int p = 0; p < n; p += 3) {
    invert_pivot(W, p, inverse);
    EACH(k, n - 3) {
      const int e = k < p ? k : k + 3;
      real* row = SYSTEM(e);
      const V3 of = v3(row[p], row[p + 1], row[p + 2]);
      const real f0 = dot(of, v3(inverse[0], inverse[3], inverse[6])), f1 = dot(of, v3(inverse[1], inverse[4], inverse[7]));
      const real f2 = dot(of, v3(inverse[2], inverse[5], inverse[8]));
      ONCE for (int j = p + 3; j < n; j++) row[j] -= f0 * SYSTEM(p)[j] + f1 * SYSTEM(p + 1)[j] + f2 * SYSTEM(p + 2)[j];
      W.step[e] -= f0 * W.step[p] + f1 * W.step[p + 1] + f2 * W.step[p + 2];
    }
    SYNC;
  }
  EACH(b, active) {
    invert_pivot(W, 3 * b, inverse);
    const V3 right = get3(W.step + 3 * b);
    put3(W.step + 3 * b, v3(dot(get3(inverse), right), dot(get3(inverse + 3), right), dot(get3(inverse + 6), right)));
  }
  SYNC;
}

// ‖λ − γ(v_c)‖²_W, and the square of the momentum.
struct Imbalance { real error, momentum; };
PHASE Imbalance imbalance(const Here here, real energy) {
  WORLD;
  EACH(b, W.blocks) {
    real gamma[3];
    impulse_at_velocity(W, here, b, gamma);
    for (int k = 0; k < 3; k++) W.step[3 * b + k] = W.impulses[3 * b + k] - gamma[k];
  }
  SYNC;
  real error = 0, work = 0;
  EACH(row, 3 * W.blocks) {
    error += W.step[row] * row_times(W, row, W.step);
    work += W.impulses[row] * (W.v_c[row] - W.v_free[row]);
  }
  work = sum_of(here, work);
  error = sum_of(here, error);
  SYNC;
  return Imbalance{error, energy + work};
}

// One step of the method: from λ, T, v_c and z to the next λ and z.
PHASE void newton_step(const Here here, real scaling, real next_scaling) {
  WORLD;
  const int active = find_active(W, here);
  assemble(here, active, scaling);
  eliminate(here, active);
  EACH(e, 3 * active) W.impulses[3 * W.active[e / 3] + e % 3] += W.step[e];
  SYNC;
  set_velocities(here);
  EACH(row, 3 * W.blocks) W.z[row] = W.v_c[row] - W.impulses[row] * W.w[row] * next_scaling;
  SYNC;
}

// Solves the problem; whether it was solved. z is the velocity that each row would meet with its own share of W for w.
PHASE bool solve_contacts(const Here here, real energy) {
  WORLD;
  real scaling = R(SOLVER_SCALING);
  localise(here, 1);
  EACH(row, 3 * W.blocks) W.z[row] -= W.impulses[row] * W.w[row] * (scaling - 1);
  SYNC;
  ONCE for (int iteration = 0;; iteration++) {
    localise(here, scaling);
    set_velocities(here);
    real excess = 0, size = 0;
    EACH(row, 3 * W.blocks) {
      real f = EXCESS_OF(row, scaling), per_w = recip(W.w[row]), free = W.v_free[row];
      excess += f * f * per_w;
      size += free * free * per_w + W.impulses[row] * (W.v_c[row] - free);
    }
    excess = sum_of(here, excess), size = sum_of(here, size);
    const real evaluation = R(SOLVER_EVALUATION_EXCESS), most = EXCESS;
    const real round_off = IS_SINGLE ? LEAST : energy * R(ROUND_OFF * ROUND_OFF) + LEAST;
    bool is_solved = excess < size * most * most + round_off;
    bool is_looked_at = !is_solved && (iteration == 0 || iteration >= SOLVER_LATE_STEP) && excess < energy * evaluation * evaluation;
    if (is_looked_at || (IS_CHECKED && is_solved)) {
      const Imbalance of = imbalance(here, energy);
      const real tolerance = iteration == 0 ? AT_START : LATE;
      bool meets = of.error < of.momentum * tolerance * tolerance;
      is_solved = is_looked_at ? meets : meets || excess < round_off;
    }
    if (is_solved || iteration == SOLVER_STEPS) {
      LEAD W.iterations += iteration;
      SYNC;
      return is_solved;
    }
    const real before = scaling;
    if ((iteration + 1) % (int)SOLVER_CYCLE == 0) scaling *= R(SOLVER_SCALING_GROWTH);
    newton_step(here, before, scaling);
  }
}

// The proximal point method, for what Newton's method does not solve: a step solves laws with R + τ w in place of R, and velocities v_c − τ w λₖ,
// from the impulses λₖ of the step before. The fixed point, for any τ, is the solution.
// All worlds of a launch wait for the last one.
#define MAX_PROXIMAL_STEPS (IS_SINGLE ? 24 : PROXIMAL_STEPS)

// R, J v* and z, λₖ of the last accepted step: in the place of loads of nodes, or behind the equations.
#define KEPT(column) ((BEHIND_EQUATIONS ? W.system + STRIDE * 3 * ACTIVE_BLOCKS : W.kept) + ROWS * (column))

// How far the impulses are from others, relative to the greater of both, weighted by each row's own share of W.
FN real distance_to(const World& W, const Here here, const real* other) {
  real apart = 0, size = 0, other_size = 0;
  EACH(row, 3 * W.blocks) {
    const real w = W.w[row], own = W.impulses[row], of = other[row];
    apart += w * (own - of) * (own - of), size += w * own * own, other_size += w * of * of;
  }
  apart = sum_of(here, apart), size = sum_of(here, size), other_size = sum_of(here, other_size);
  return apart > 0 ? sqrt_(apart / max_(size, other_size)) : apart;
}

// Solves the problem as `solve_contacts` takes it; whether it was solved.
PHASE bool solve_hard(const Here here, real energy) {
  WORLD;
  const real scaling = R(SOLVER_SCALING);
  real *r = KEPT(0), *v_free = KEPT(1), *z = KEPT(2), *last = KEPT(3);
  // The impulses that lead to the present velocities.
  real* balancing = W.step;
  localise(here, 1);
  EACH(row, 3 * W.blocks) {
    W.z[row] -= W.impulses[row] * W.w[row] * (scaling - 1);
    r[row] = W.r[row], v_free[row] = W.v_free[row], z[row] = W.z[row], last[row] = W.impulses[row];
  }
  SYNC;
  real tau = R(FIRST_SOFTNESS), last_change = R(FIRST_CHANGE);
  int spent = 0;
  bool is_found = false;
  ONCE while (spent < MAX_PROXIMAL_STEPS && !is_found) {
    EACH(row, 3 * W.blocks) {
      const real shift = tau * W.w[row] * last[row];
      W.r[row] = r[row] + tau * W.w[row], W.v_free[row] = v_free[row] - shift, W.z[row] = z[row] - shift;
    }
    SYNC;
    localise(here, scaling);
    real error = INFINITE, change = INFINITE;
    int made = 0;
    bool is_solved = false;
    ONCE while (made < PROXIMAL_NEWTON_STEPS && !is_solved && is_number(error)) {
      set_velocities(here);
      newton_step(here, scaling, scaling);
      EACH(row, 3 * W.blocks) balancing[row] = W.impulses[row];
      SYNC;
      localise(here, scaling);
      error = distance_to(W, here, balancing), change = distance_to(W, here, last);
      is_solved = error <= R(PROXIMAL_ERROR) * min_(change, last_change);
      made++;
    }
    spent += made;
    if (!is_number(error + change)) break;
    if (is_solved && (tau >= 1 || change < R(PROXIMAL_GROWTH) * last_change)) {
      EACH(row, 3 * W.blocks) {
        const real shift = tau * W.w[row] * last[row], found = W.impulses[row];
        W.r[row] = r[row], W.v_free[row] = v_free[row], W.impulses[row] = balancing[row];
        W.v_c[row] += shift, W.z[row] += shift;
        z[row] = W.z[row], last[row] = found;
      }
      SYNC;
      if (change < R(NEAR_CHANGE)) {
        const Imbalance of = imbalance(here, energy > 0 ? energy : R(1));
        is_found = of.error < of.momentum * AT_START * AT_START;
      }
      last_change = max_(change, R(LEAST_CHANGE));
      if (made == 1) tau = max_(R(SOFTNESS_FALL) * tau, R(LEAST_SOFTNESS));
      else if (made == PROXIMAL_NEWTON_STEPS) tau *= 2;
    } else {
      tau = min_(R(SOFTNESS_RISE) * tau, R(1));
    }
  }
  EACH(row, 3 * W.blocks) W.r[row] = r[row], W.v_free[row] = v_free[row];
  LEAD W.iterations += spent;
  SYNC;
  return is_found;
}
