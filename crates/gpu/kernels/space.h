// The contact problem in contact space: its rows, and the Delassus operator W = J (M + Λ)⁻¹ Jᵀ.

// u of each row by degrees of freedom (times the root of 1/D), and the degrees of freedom that its load passes, a bit each.
#define CARRIED(row) (W.carried + (NV | 1) * (row))
#define PASSED(row) ((unsigned*)(W.carried + (NV | 1) * ROWS) + WORDS * (row))

// The degrees of freedom from a node to its root, a bit each.
#if NV > 32
#define PATH(word, node) ((unsigned)node_path(word, node))
#else
#define PATH(word, node) ((unsigned)node_path(node))
#endif

FN int lower(int row, int column) { return row * (row + 1) / 2 + column; }
FN real delassus(const World& W, int i, int j) { return W.delassus[i > j ? lower(i, j) : lower(j, i)]; }

// Numbers the rows of what is chosen: constraints of three rows first, then those of one, three to a block. What has no room is not chosen.
PHASE void number_rows(const Here here) {
  WORLD;
  EACH(k, ROWS) W.of_row[k] = -1;
  SYNC;
  int blocks = 0, lost = 0;
  ONCE for (int base = 0; base < W.count; base += LANES) {
    const int e = base + here.lane;
    bool is_one = e < W.count && (W.candidates[e].flags & (CHOSEN | IS_THREE)) == (CHOSEN | IS_THREE);
    unsigned yes = votes(here, is_one);
    const int b = blocks + place_of(here, yes);
    blocks += count_bits(yes);
    if (is_one && b >= BLOCKS) lost++, W.candidates[e].flags &= ~CHOSEN;
    if (is_one && b < BLOCKS) {
      for (int k = 0; k < 3; k++) W.of_row[3 * b + k] = e;
      W.rows_of[b] = W.candidates[e].flags & IS_CONTACT ? OF_CONTACT : OF_BOUNDS;
    }
  }
  blocks = blocks < BLOCKS ? blocks : BLOCKS;
  int row = 3 * blocks;
  ONCE for (int base = 0; base < W.count; base += LANES) {
    const int e = base + here.lane;
    bool is_one = e < W.count && (W.candidates[e].flags & (CHOSEN | IS_THREE)) == CHOSEN;
    unsigned yes = votes(here, is_one);
    const int at = row + place_of(here, yes);
    row += count_bits(yes);
    if (is_one && at >= ROWS) lost++, W.candidates[e].flags &= ~CHOSEN;
    if (is_one && at < ROWS) {
      W.of_row[at] = e;
      W.rows_of[at / 3] = OF_BOUNDS;
    }
  }
  row = row < ROWS ? row : ROWS;
  const int first_spin = (row + 2) / 3;
#if SPINS
  // Rolling and torsional friction of the contacts that are chosen: a block for each, or three to a block where nothing rolls.
  SYNC;
  row = 3 * first_spin;
  ONCE for (int base = 0; base < blocks; base += LANES) {
    const int b = base + here.lane, e = b < blocks ? W.of_row[3 * b] : 0;
    bool is_one = b < blocks && W.candidates[e].flags & HAS_SPIN;
    unsigned yes = votes(here, is_one);
    const int at = row + (ROLLS ? 3 : 1) * place_of(here, yes);
    row += (ROLLS ? 3 : 1) * count_bits(yes);
    if (is_one && at >= ROWS) lost++;
    if (is_one && at < ROWS) {
      for (int k = 0; k < (ROLLS ? 3 : 1); k++) W.of_row[at + k] = e, W.normal_of[at + k] = 3 * b + 2;
      W.rows_of[at / 3] = ROLLS ? OF_ROLLING : OF_TORSION;
    }
  }
  row = row < ROWS ? row : ROWS;
#endif
  lost = (int)sum_of(here, lost);
  LEAD {
    W.threes = blocks;
    W.first_spin = first_spin;
    W.blocks = (row + 2) / 3;
    W.overflow += lost;
  }
  SYNC;
}

// Lets the constraints at a bound push: the loads of nodes are then the motions that they add to free motion.
PHASE void push_bounded(const Here here) {
  WORLD;
  bool any = false;
  EACH(e, W.count) any |= (W.candidates[e].flags & BOUNDED) != 0;
  any = any_of(here, any);
  EACH(i, NODES) for (int k = 0; k < 6; k++) LOAD(i)[k] = 0;
  EACH(k, NV) W.x[k] = 0;
  SYNC;
  if (!any) return;
  LEAD ONCE for (int e = 0; e < W.count; e++) {
    const Candidate& c = W.candidates[e];
    if (c.flags & BOUNDED)
      ONCE for (int t = OF(1, c.id); t < OF(2, c.id); t++) W.x[term_of(1, t)] += COEFFICIENT(t) * c.extra[2];
  }
  SYNC;
  respond(here, LOADS);
}

// J v* of all rows, what is at a bound included.
PHASE void set_free_velocities(const Here here) {
  WORLD;
  push_bounded(here);
  EACH(b, W.blocks) {
    if (b < W.threes) {
      const Candidate& c = W.candidates[W.of_row[3 * b]];
      real frame[9];
      frame_of(get3(c.normal), frame);
      put3(W.v_free + 3 * b, turn_back(frame, relative(W, here, c, AT_SOLUTION)));
#if SPINS
    } else if (b >= W.first_spin) {
      ONCE for (int k = 0; k < 3; k++) {
        const int e = W.of_row[3 * b + k];
        if (e >= 0) W.v_free[3 * b + k] = dot(spin_axis(W.candidates[e], k), relative_turn(W, here, W.candidates[e], AT_SOLUTION));
        else W.v_free[3 * b + k] = 0;
      }
#endif
    } else {
      ONCE for (int row = 3 * b; row < 3 * b + 3; row++)
        W.v_free[row] = W.of_row[row] < 0 ? R(0) : row_velocity(W, here, W.candidates[W.of_row[row]], AT_SOLUTION);
    }
  }
  SYNC;
}

// Adds what a unit load at a node, or at one of its degrees of freedom, leaves at the degrees of freedom on its way to the root.
FN void carry_up(const World& W, const Here here, int node, int first, Spatial load, real own, real* to) {
  ONCE for (; node >= 0; node = node_parent(node)) {
    ONCE for (int k = first < 0 ? node_v(node) + node_nv(node) - 1 : first; k >= node_v(node); k--) {
      real u = dot(get6(W.axis[k]), load) + own;
      own = 0;
      to[k] += u;
      load = load - (W.d_inv[k] * u) * get6(W.u[k]);
    }
    first = -1;
  }
}

// Sends a unit load along every row to the roots.
PHASE void carry(const Here here) {
  WORLD;
  EACH(row, 3 * W.blocks) {
    real* to = CARRIED(row);
    unsigned passed[WORDS];
    ONCE for (int word = 0; word < WORDS; word++) passed[word] = 0;
    const int e = W.of_row[row];
    if (e >= 0) {
      const Candidate& c = W.candidates[e];
      const bool is_spin = SPINS && row >= 3 * W.first_spin;
      const int start = c.flags & IS_THREE ? 0 : OF(1, c.id), end = c.flags & IS_THREE ? 2 : OF(2, c.id);
      ONCE for (int k = start; k < end; k++) {
        const int node = c.flags & IS_THREE ? end_of(here, c, k) : term_of(2, k);
        ONCE for (int word = 0; word < WORDS && node >= 0; word++) passed[word] |= PATH(word, node);
      }
      ONCE for (int word = 0; word < WORDS; word++)
        ONCE for (unsigned left = passed[word]; left; left &= left - 1) to[32 * word + lowest_bit(left)] = 0;
      real frame[9];
      V3 axis = v3(0, 0, 0);
      if (c.flags & IS_THREE) {
        frame_of(get3(c.normal), frame);
        const int column = row % 3;
        axis = column == 0 ? get3(frame) : column == 1 ? get3(frame + 3) : get3(frame + 6);
        if (is_spin) axis = spin_axis(c, column);
      }
      ONCE for (int k = start; k < end; k++) {
        if (c.flags & IS_THREE) {
          const int node = end_of(here, c, k);
          if (node < 0) continue;
          V3 arm = get3(c.position) - get3(W.origin[node_tree(node)]);
          V3 along = k ? axis : -axis;
          Spatial load = c.flags & IS_TURN || is_spin ? Spatial{along, v3(0, 0, 0)} : Spatial{cross(arm, along), along};
          carry_up(W, here, node, -1, load, 0, to);
        } else {
          carry_up(W, here, term_of(2, k), term_of(1, k), Spatial{v3(0, 0, 0), v3(0, 0, 0)}, COEFFICIENT(k), to);
        }
      }
      ONCE for (int word = 0; word < WORDS; word++)
        ONCE for (unsigned left = passed[word]; left; left &= left - 1) {
          const int k = 32 * word + lowest_bit(left);
          to[k] *= sqrt_(W.d_inv[k]);
        }
    }
    ONCE for (int word = 0; word < WORDS; word++) PASSED(row)[word] = passed[word];
  }
  SYNC;
}

// W from what was carried.
PHASE void multiply(const Here here) {
  WORLD;
  ONCE for (int row = 0; row < 3 * W.blocks; row++)
    EACH(column, row + 1) {
      real sum = 0;
      ONCE for (int word = 0; word < WORDS; word++)
        ONCE for (unsigned left = PASSED(row)[word] & PASSED(column)[word]; left; left &= left - 1) {
          const int k = 32 * word + lowest_bit(left);
          sum += CARRIED(row)[k] * CARRIED(column)[k];
        }
      W.delassus[lower(row, column)] = sum;
    }
  SYNC;
}

// What the impulses found add to free motion: x of the degrees of freedom, and the motions of nodes in place of their loads.
PHASE void set_response(const Here here) {
  WORLD;
  real* wrench = W.step;  // of each block of three rows
  EACH(b, W.threes) {
    real frame[9];
    frame_of(get3(W.candidates[W.of_row[3 * b]].normal), frame);
    put3(wrench + 3 * b, turn(frame, get3(W.impulses + 3 * b)));
  }
  EACH(k, NV) W.x[k] = 0;
  SYNC;
  EACH(i, NODES) {
    Spatial load{v3(0, 0, 0), v3(0, 0, 0)};
    ONCE for (int b = 0; b < W.threes; b++) {
      const Candidate& c = W.candidates[W.of_row[3 * b]];
      V3 impulse = get3(wrench + 3 * b);
      ONCE for (int end = 0; end < 2; end++)
        if (end_of(here, c, end) == i) {
          V3 push = end ? -impulse : impulse;
          V3 arm = get3(c.position) - get3(W.origin[node_tree(i)]);
          load = load + (c.flags & IS_TURN ? Spatial{push, v3(0, 0, 0)} : Spatial{cross(arm, push), push});
        }
    }
#if SPINS
    ONCE for (int row = 3 * W.first_spin; row < 3 * W.blocks; row++) {
      if (W.of_row[row] < 0) continue;
      const Candidate& c = W.candidates[W.of_row[row]];
      ONCE for (int end = 0; end < 2; end++)
        if (end_of(here, c, end) == i) load.ang = load.ang + (end ? -W.impulses[row] : W.impulses[row]) * spin_axis(c, row % 3);
    }
#endif
    put6(LOAD(i), load);
  }
  LEAD {
    ONCE for (int row = 3 * W.threes; row < 3 * W.first_spin; row++) {
      if (W.of_row[row] < 0) continue;
      const Candidate& c = W.candidates[W.of_row[row]];
      ONCE for (int t = OF(1, c.id); t < OF(2, c.id); t++) W.x[term_of(1, t)] += COEFFICIENT(t) * W.impulses[row];
    }
    if (CONSTRAINTS > FIRST_OTHER)
      ONCE for (int e = W.near; e < W.count; e++) {
        const Candidate& c = W.candidates[e];
        if (c.flags & BOUNDED)
          ONCE for (int t = OF(1, c.id); t < OF(2, c.id); t++) W.x[term_of(1, t)] += COEFFICIENT(t) * c.extra[2];
      }
  }
  SYNC;
  respond(here, LOADS);
}
