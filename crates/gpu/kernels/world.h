// What a world is while it is stepped: all of it in shared memory.

// Kinds, as the plan's tables have them.
enum Joint { REVOLUTE, PRISMATIC, SCREW, BALL, FREE };
enum Kind {
  CONTACT, LIMIT, BALL_LIMIT, JOINT_FRICTION, COUPLING, TIE_POINT, TIE_TURN, TIE_DISTANCE, TENDON_LIMIT, TENDON_SPRING,
  TENDON_ARMATURE, TENDON_FRICTION, TENDON_ACTUATOR, DRIVE
};
enum Shape { SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, HULL, TRIANGLE, FIELD };
enum Law { COULOMB, LAGGED, SAP };

#define ROWS (3 * BLOCKS)
#define WORDS ((NV + 31) / 32)

// A constraint that the step can reach.
struct Candidate {
  // An odd number of words: lanes meet different banks.
  int id : 24;
  unsigned flags : 8;
  real position[3], normal[3];
  // Contacts: gap, R of friction, estimate of the normal impulse, whether it pushes. Equalities of three rows: v̂. One row: both bounds,
  // and the impulse of one that is at a bound.
  real extra[4];
  real v_hat, v_hat_recovery, r_n, w;
  // What it met in the step before: its velocity without impulse (world axes; of one row the first entry), its normal impulse.
  real free_velocity[3], impulse;
#if SPINS
  // Rolling and torsional friction of a contact: how easily its bodies turn, and what it met.
  real spin_w, spin_velocity[3];
#endif
};
enum Flag { CHOSEN = 1, BOUNDED = 2, REMEMBERED = 4, IS_THREE = 8, IS_LIMIT = 16, IS_CONTACT = 32, IS_TURN = 64, HAS_SPIN = 128 };
// What a block of rows is: rows between bounds, a contact, torsional friction of three contacts, rolling and torsional friction of one.
enum Rows { OF_BOUNDS, OF_CONTACT, OF_TORSION, OF_ROLLING };

// What a constraint met in a step, kept to the next one.
struct Met {
  int id;
  real free_velocity[3], impulse;
#if SPINS
  real spin_velocity[3];
#endif
};

// Worlds between steps. Counts are since the batch was made.
struct Status {
  int remembered;   // entries of what constraints met
  int iterations;   // of the contact solver
  int unsettled;    // steps whose contact problem was not solved to the tolerance
  int overflow;     // constraints that had no room
  int coarse;       // steps that should have been made in parts
  int failed;       // 1 if the last step failed
  int steps;
  int pushing;      // constraints that pushed in the last step
};

// Rows of the contact problem by the degrees of freedom that their loads pass, and room for the equations of active blocks, whose rows begin in
// different banks; behind them what the proximal point method keeps, where the loads of nodes leave too little room for that.
#define CARRIED_SIZE ((NV | 1) + WORDS)
#define STRIDE (3 * ACTIVE_BLOCKS | 1)
#define KEPT_COLUMNS 4
#define BEHIND_EQUATIONS (KEPT_COLUMNS * ROWS > 6 * NODES + NV)
#define SYSTEM_SIZE (3 * ACTIVE_BLOCKS * STRIDE + (BEHIND_EQUATIONS ? KEPT_COLUMNS * ROWS : 0))
// Scratch of the phases outside of the contact problem.
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SCRATCH LARGER(LARGER(36 * NODES, 17 * NODES + 17), 23 * GEOMS + (HIT_ROOM + 1) / 2)
// What only free motion and the detection of contacts need. Where drives may turn out to be at their limits both are made again.
#define OF_FREE_MOTION real rot[NODES][9], force[NODES][6], impulse[NV], lambda[NV]

struct World {
  // What the host gives; forces and targets may be null.
  const real *ctrl, *pd_target, *applied_force, *applied_wrench;
  Met* met;
#if SENSORS
  real* sensors;  // where they are shown; whether this is the last step of a launch, and whether one was made
  int senses, has_stepped;
#endif
  real* q_start;  // where the positions at the beginning of a step are kept
  real q[ROOM(NQ)], act[ROOM(ACTIVATIONS)], act_start[ROOM(ACTIVATIONS)], input[ACTIVATIONS ? CONTROLS : 1];
  // Velocities: of the state, v₀, v*, those that move positions.
  real v[NV], v_start[NV], v_star[NV], v_of_q[NV];
  // Of the factor of M + Λ 1/D, the axes s and U = Iᴬ s.
  real d_inv[NV], axis[NV][6], u[NV][6];
  real origin[TREES][3], heaviest[TREES], fastest[TREES];
  int turns[TREES], island[TREES];
  real recovers[TREES];
  // Nodes: place from the tree's origin, mass moment and rotational inertia there, motion at v₀, what v* adds to it, Coriolis force.
  real pos[NODES][3], moment[NODES][3], rotational[NODES][6];
  real twist[NODES][6], change[NODES][6], coriolis[NODES][6];
  union {
    // Loads of nodes and then responses; right-hand side, then solution.
    struct { real load[NODES][6], x[NV]; };
    // Nobody needs them while the contact problem is solved: there the proximal point method keeps what it started from.
    real kept[6 * NODES + NV];
  };
  // p(v) = impulse − impedance (v − v₀) within bounds; whether it is a constraint.
  real drive[ROOM(DRIVES)][5];
  real pd_impulse[HAS_PD ? NV : 1];
  // Of terms behind those of limits, which are ±1.
  real coefficient[ROOM(TERMS - LIMIT_TERMS)];
#if IS_BALANCED
  // Of each tree what the step owes its end: kinetic energy, momentum, mass moment, impulse of external forces, drift; kinetic energy at v₀.
  real due[TREES][17];
#endif
  Candidate candidates[CANDIDATES];
  int near, count;  // contacts come first
  int blocks, threes, first_spin;
#if DRIVES
  OF_FREE_MOTION;
#endif
  // The contact problem has the place of what the other phases need by themselves.
  union {
    struct {
      real scratch[SCRATCH];
#if !DRIVES
      // Rotations of nodes, dt (c − weight), impulses at the degrees of freedom, Λ.
      OF_FREE_MOTION;
#endif
    };
    struct {
      // Rows, three to a block: constraints of three rows, those of one, rolling and torsional friction. The candidate of each row, what each block is.
      short of_row[ROWS], rows_of[BLOCKS], active[BLOCKS];
#if SPINS
      // Of rows of rolling and torsional friction the normal row of their contact, and how they follow its impulse.
      short normal_of[ROWS];
      real slope[ROWS];
#endif
      real v_free[ROWS];
      // The Delassus operator, lower triangle by rows.
      real delassus[ROWS * (ROWS + 1) / 2];
      union {
        // Before there is the operator, and when it is there.
        real carried[CARRIED_SIZE * ROWS];
        struct {
          real r[ROWS], v_hat[ROWS], w[ROWS], low[ROWS], high[ROWS], z[ROWS], v_c[ROWS], impulses[ROWS], step[ROWS];
          real t[BLOCKS][9], system[SYSTEM_SIZE];
        };
      };
    };
  };
  // Entries of what constraints met in the step before; what the step meets; counts of this launch.
  int remembered, is_unsettled, is_placed, iterations, unsettled, overflow, coarse, failed, pushing;
};

FN V3 local3(const real* table, int items, int i) { return v3(table[i], table[items + i], table[2 * items + i]); }

#define FORCE(i) W.force[i]
#define LOAD(i) W.load[i]

// The momentum of a node that moves so.
FN Spatial momentum(const World& W, const Here here, int i, Spatial v) {
  V3 h = get3(W.moment[i]);
  return Spatial{times(W.rotational[i], v.ang) + cross(h, v.lin), node_mass(i) * v.lin + cross(v.ang, h)};
}
// The velocity of a point, its arm from the tree's origin.
FN V3 velocity_at(Spatial v, V3 arm) { return v.lin + cross(v.ang, arm); }
