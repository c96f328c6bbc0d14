// Where nodes are and how they move. Everything of a tree is about one point, the origin of its root at the beginning of the step.

#define AT3(table, i) v3(table(0, i), table(1, i), table(2, i))
// The nodes of a level, one after the other.
#define LEVEL(l, first, n) const int first = LEVEL_START[l], n = LEVEL_START[(l) + 1] - first
// The chains of a level of chains: nodes of which each but the last has one child, the next. A lane goes along a chain without a barrier.
#define CHAIN_LEVEL(l, first, n) const int first = CHAIN_START[l], n = CHAIN_START[(l) + 1] - first

// The placement of a node in its parent's frame: rotation by columns, then position.
FN void place_in_parent(const World& W, const Here here, int i, real* own) {
  const int joint = node_joint(i), q = node_q(i);
  for (int k = 0; k < 9; k++) own[k] = node_rot(k, i);
  put3(own + 9, node_parent(i) < 0 ? v3(0, 0, 0) : AT3(node_pos, i));
  if (joint == REVOLUTE || joint == SCREW) {
    real s, c;
    sin_cos(W.q[q] - node_q_ref(i), s, c);
    V3 x = get3(own), y = get3(own + 3);
    put3(own, c * x + s * y);
    put3(own + 3, c * y - s * x);
  }
  if ((SLIDES && joint == PRISMATIC) || (SCREWS && joint == SCREW)) {
    real along = (W.q[q] - node_q_ref(i)) * (joint == SCREW ? node_pitch(i) : R(1));
    put3(own + 9, get3(own + 9) + along * get3(own + 6));
  }
  if (BALLS && joint == BALL) {
    real m[9], base[9];
    to_matrix(quat(W.q + q), m);
    for (int k = 0; k < 9; k++) base[k] = own[k];
    for (int k = 0; k < 3; k++) put3(own + 3 * k, turn(base, get3(m + 3 * k)));
  }
  if (FREES && joint == FREE) to_matrix(quat(W.q + q + 3), own);
}

// Places nodes, the axes of their joints and their inertias at q.
PHASE void place(const Here here) {
  WORLD;
  real* local = W.scratch;  // 13 numbers a node: lanes meet different banks
  EACH(t, TREES) {
    int root = tree_root(t);
    put3(W.origin[t], tree_floats(t) ? get3(W.q + node_q(root)) : AT3(node_pos, root));
  }
  EACH(i, NODES) place_in_parent(W, here, i, local + 13 * i);
  SYNC;
  // A lane has a row of rotations and a coordinate of places.
  ONCE for (int l = 0; l < CHAIN_LEVELS; l++) {
    CHAIN_LEVEL(l, first, n);
    EACH(e, 4 * n) {
      const int chain = first + (e >> 2), r = e & 3;
      if (r < 3) {
        const int above = node_parent(chain_node(0, chain));
        V3 row = v3(r == 0, r == 1, r == 2);
        real at = 0;
        if (above >= 0) row = v3(W.rot[above][r], W.rot[above][3 + r], W.rot[above][6 + r]), at = W.pos[above][r];
        ONCE for (int j = 0; j < chain_length(chain); j++) {
          const int i = chain_node(j, chain);
          const real* own = local + 13 * i;
          W.pos[i][r] = at += dot(row, get3(own + 9));
          row = v3(dot(row, get3(own)), dot(row, get3(own + 3)), dot(row, get3(own + 6)));
          W.rot[i][r] = row.x, W.rot[i][3 + r] = row.y, W.rot[i][6 + r] = row.z;
        }
      }
    }
    SYNC;
  }
  EACH(i, NODES) {
    const int joint = node_joint(i), v = node_v(i);
    const real* rot = W.rot[i];
    V3 p = get3(W.pos[i]), z = get3(rot + 6), none = v3(0, 0, 0);
    if (joint == REVOLUTE) put6(W.axis[v], Spatial{z, cross(p, z)});
    if (SLIDES && joint == PRISMATIC) put6(W.axis[v], Spatial{none, z});
    if (SCREWS && joint == SCREW) put6(W.axis[v], Spatial{z, cross(p, z) + node_pitch(i) * z});
    if (BALLS && joint == BALL)
      for (int k = 0; k < 3; k++) put6(W.axis[v + k], Spatial{get3(rot + 3 * k), cross(p, get3(rot + 3 * k))});
    if (FREES && joint == FREE)
      for (int k = 0; k < 3; k++) {
        put6(W.axis[v + k], Spatial{none, v3(k == 0, k == 1, k == 2)});
        put6(W.axis[v + 3 + k], Spatial{get3(rot + 3 * k), none});
      }
    if (node_is_massless(i)) {
      put3(W.moment[i], none);
      for (int k = 0; k < 6; k++) W.rotational[i][k] = 0;
    } else {
      V3 c = p + turn(rot, AT3(node_com, i)), h = node_mass(i) * c;
      real own[6], d = dot(h, c);
      for (int k = 0; k < 6; k++) own[k] = node_inertia(k, i);
      // R I Rᵀ by columns of I Rᵀ.
      V3 a = turn(rot, times(own, v3(rot[0], rot[3], rot[6]))), b = turn(rot, times(own, v3(rot[1], rot[4], rot[7])));
      V3 e = turn(rot, times(own, v3(rot[2], rot[5], rot[8])));
      real* I = W.rotational[i];
      I[0] = a.x + d - h.x * c.x, I[1] = b.x - h.x * c.y, I[2] = e.x - h.x * c.z;
      I[3] = b.y + d - h.y * c.y, I[4] = e.y - h.y * c.z, I[5] = e.z + d - h.z * c.z;
      put3(W.moment[i], h);
    }
  }
  SYNC;
}

// The motions of all nodes: twists at v, changes at v, or loads at x.
enum Motions { TWISTS, CHANGES, LOADS };
PHASE void set_motions(const Here here, Motions which) {
  WORLD;
  const real* v = which == LOADS ? W.x : W.v;
  real(*to)[6] = which == TWISTS ? W.twist : which == CHANGES ? W.change : W.load;
  ONCE for (int l = 0; l < CHAIN_LEVELS; l++) {
    CHAIN_LEVEL(l, first, n);
    EACH(e, 8 * n) {
      const int chain = first + (e >> 3), r = e & 7;
      if (r < 6) {
        const int parent = node_parent(chain_node(0, chain));
        real sum = parent < 0 ? R(0) : to[parent][r];
        ONCE for (int j = 0; j < chain_length(chain); j++) {
          const int i = chain_node(j, chain);
          ONCE for (int k = node_v(i); k < node_v(i) + node_nv(i); k++) sum += v[k] * W.axis[k][r];
          to[i][r] = sum;
        }
      }
    }
    SYNC;
  }
}

// Sums loads from the roots to the leaves.
PHASE void sum_down(const Here here) {
  WORLD;
  ONCE for (int l = 0; l < CHAIN_LEVELS; l++) {
    CHAIN_LEVEL(l, first, n);
    EACH(e, 8 * n) {
      const int chain = first + (e >> 3), r = e & 7;
      if (r < 6) {
        const int parent = node_parent(chain_node(0, chain));
        real sum = parent < 0 ? R(0) : LOAD(parent)[r];
        ONCE for (int j = 0; j < chain_length(chain); j++) LOAD(chain_node(j, chain))[r] = sum += LOAD(chain_node(j, chain))[r];
      }
    }
    SYNC;
  }
}

FN Spatial of_parent(const World& W, const Here here, const real (*of)[6], int i) {
  int parent = node_parent(i);
  return parent < 0 ? Spatial{v3(0, 0, 0), v3(0, 0, 0)} : get6(of[parent]);
}

// What a joint that moves its node at `own` adds to the acceleration of the node above, which moves at `above`, at zero joint accelerations.
FN Spatial joint_acceleration(const Here here, int i, Spatial above, Spatial own) {
  // A free root's origin moves evenly then, not the point of the body that passes there.
  if (FREES && node_joint(i) == FREE) return Spatial{v3(0, 0, 0), -cross(own.ang, own.lin)};
  return cross_twist(above, own);
}

// Twists at v₀, Coriolis forces there, and dt (c − weight). Accelerations at zero joint accelerations stand where loads will be.
PHASE void move_nodes(const Here here) {
  WORLD;
  EACH(t, TREES) W.turns[t] = 0;
  set_motions(here, TWISTS);
  real(*acceleration)[6] = W.load;
  EACH(i, NODES) {
    Spatial swing = of_parent(W, here, W.twist, i), own = get6(W.twist[i]) - swing;
    put6(acceleration[i], joint_acceleration(here, i, swing, own));
  }
  SYNC;
  sum_down(here);
  const V3 g = AT3(gravity, 0);
  const real least = R(MIN_TURN / DT);
  EACH(i, NODES) {
    Spatial twist = get6(W.twist[i]);
    Spatial c = momentum(W, here, i, get6(acceleration[i])) + cross_wrench(twist, momentum(W, here, i, twist));
    real mass = node_weight(0, i);
    V3 about = mass * get3(W.pos[i]) + turn(W.rot[i], v3(node_weight(1, i), node_weight(2, i), node_weight(3, i)));
    put6(W.coriolis[i], c);
    put6(FORCE(i), R(DT) * (c - Spatial{cross(about, g), mass * g}));
    if (least * least < dot(twist.ang, twist.ang)) W.turns[node_tree(i)] = 1;
  }
  SYNC;
  if (W.applied_wrench) {
    // Several bodies may be fixed in one node.
    EACH(i, NODES) ONCE for (int k = 0; k < BODIES; k++) if (body_node(k) == i) {
      const real* of = W.applied_wrench + 6 * k;
      V3 ang = R(DT) * get3(of), lin = R(DT) * get3(of + 3), com = get3(W.pos[i]) + turn(W.rot[i], AT3(body_com, k));
      put6(FORCE(i), get6(FORCE(i)) - Spatial{ang + cross(com, lin), lin});
    }
    SYNC;
  }
}

// Adds to the Coriolis forces what they become between v₀ and v₀ + x, the polar form c(v₀, x), x the last solution.
PHASE void add_polar_coriolis(const Here here) {
  WORLD;
  EACH(i, NODES) {
    Spatial swing = of_parent(W, here, W.twist, i), swing_change = of_parent(W, here, W.change, i);
    Spatial own = get6(W.twist[i]) - swing, change = get6(W.change[i]) - swing_change, both;
    if (FREES && node_joint(i) == FREE) both = Spatial{v3(0, 0, 0), -(cross(own.ang, change.lin) + cross(change.ang, own.lin))};
    else both = cross_twist(swing, change) + cross_twist(swing_change, own);
    put6(LOAD(i), R(0.5) * both);
  }
  SYNC;
  sum_down(here);
  EACH(i, NODES) if (W.turns[node_tree(i)]) {
    Spatial twist = get6(W.twist[i]), change = get6(W.change[i]);
    Spatial spun = cross_wrench(twist, momentum(W, here, i, change)) + cross_wrench(change, momentum(W, here, i, twist));
    Spatial force = momentum(W, here, i, get6(LOAD(i))) + R(0.5) * spun;
    put6(W.coriolis[i], get6(W.coriolis[i]) + force);
    put6(FORCE(i), get6(FORCE(i)) + R(DT) * force);
  }
  SYNC;
}
