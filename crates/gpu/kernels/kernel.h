// Steps of many worlds. A world's arrays are rows of numbers, one world after the other.

struct Arguments {
  real *q, *v, *act;
  const real *ctrl, *pd_target, *force, *wrench;
  Met* met;             // CANDIDATES to a world
  Status* status;
  const int* whole;     // tables
  const real* reals;
  const real* own;      // numbers of worlds, OWN_SIZE to a set; the model's are the first
  const int* own_of;    // which set a world has; null: all have the model's
  real* time;
  real* sensors;        // what sensors show; null: nobody has asked
  int worlds, steps;
};

// As `lanes/src/kinematics.rs: make_quaternions_unit`.
FN void make_quaternions_unit(World& W, const Here here) {
  EACH(i, NODES) {
    const int joint = node_joint(i);
    if (joint != BALL && joint != FREE) continue;
    real* to = W.q + node_q(i) + (joint == FREE ? 3 : 0);
    Quat q = quat(to);
    const real excess = q.w * q.w + dot(q.v, q.v) - 1;
    if ((excess < 0 ? -excess : excess) <= BY_PRECISION(1e-14, 1e-5)) continue;
    q = unit(q);
    to[0] = q.w, put3(to + 1, q.v);
  }
}

FN void load(World& W, const Here here, const Arguments& of, int w) {
  EACH(k, NQ) W.q[k] = of.q[(size_t)w * NQ + k];
  EACH(k, NV) W.v[k] = of.v[(size_t)w * NV + k];
  EACH(k, ACTIVATIONS) W.act[k] = of.act[(size_t)w * ACTIVATIONS + k];
  EACH(k, TERMS - LIMIT_TERMS) W.coefficient[k] = term_coefficient(LIMIT_TERMS + k);
  LEAD {
    W.ctrl = of.ctrl + (size_t)w * CONTROLS;
    W.pd_target = of.pd_target ? of.pd_target + (size_t)w * NQ : 0;
    W.applied_force = of.force ? of.force + (size_t)w * NV : 0;
    W.applied_wrench = of.wrench ? of.wrench + (size_t)w * BODIES * 6 : 0;
    W.met = of.met + (size_t)w * CANDIDATES;
#if SENSORS
    W.sensors = of.sensors + (size_t)w * SENSOR_NUMBERS;
    W.senses = 0;
#endif
    W.q_start = of.q + (size_t)w * NQ;
    W.remembered = of.status[w].remembered;
    W.is_placed = W.iterations = W.unsettled = W.overflow = W.coarse = W.failed = W.pushing = 0;
    W.near = W.count = W.blocks = W.threes = W.first_spin = 0;
  }
  SYNC;
  make_quaternions_unit(W, here);
  SYNC;
}

FN void save(const World& W, const Here here, const Arguments& of, int w, int steps) {
  // A launch of no steps only senses: it changes nothing, and tells nothing of the last step.
  if (of.steps == 0) return;
  EACH(k, NQ) of.q[(size_t)w * NQ + k] = W.q[k];
  EACH(k, NV) of.v[(size_t)w * NV + k] = W.v[k];
  EACH(k, ACTIVATIONS) of.act[(size_t)w * ACTIVATIONS + k] = W.act[k];
  LEAD {
    Status& to = of.status[w];
    to.remembered = W.remembered, to.pushing = W.pushing, to.failed = W.failed;
    to.iterations += W.iterations, to.unsettled += W.unsettled, to.overflow += W.overflow, to.coarse += W.coarse, to.steps += steps;
    of.time[w] += R(DT) * steps;
  }
}

#if SENSORS
FN void begin_sensing(World& W, const Here here, const Arguments& of, int step) {
  LEAD W.senses = of.sensors && step == of.steps - 1;
  SYNC;
}
// What sensors show after so many steps. Where the last one failed, or there was none, there are neither accelerations nor forces.
FN void sense_end(World& W, const Here here, const Arguments& of, int w, int made) {
  if (!of.sensors) return;
  const bool has_stepped = made > 0 && !W.failed;
  LEAD {
    W.has_stepped = has_stepped;
    if (!has_stepped) W.near = 0;
  }
  if (!has_stepped) EACH(k, NV) W.v_start[k] = W.v[k];
  SYNC;
  if (!W.is_placed) place(here);
  sense(here, of.time[w] + R(DT) * made);
}
#endif

FN const real* own_of(const Arguments& of, int w) { return of.own_of ? of.own + (size_t)of.own_of[w] * OWN_SIZE : of.own; }

#ifdef __CUDACC__
extern "C" __global__ void __launch_bounds__(WORLDS_A_BLOCK* LANES, LEAST_BLOCKS) steps(Arguments of) {
  const int group = threadIdx.x / LANES, w = blockIdx.x * (blockDim.x / LANES) + group;
  const bool is_there = w < of.worlds;
  Here here{(int)threadIdx.x % LANES, own_lanes(), group * (unsigned)sizeof(World), of.whole, of.reals, own_of(of, is_there ? w : 0)};
  WORLD;
  if (is_there) load(W, here, of, w);
  int made = 0;
  ONCE for (int k = 0; k < of.steps; k++) {
    // The worlds of a block fetch the same instructions at about the same time.
    const bool goes = is_there && !W.failed;
    __syncthreads();
    here.mask = __ballot_sync(~0u, goes);
#if SENSORS
    if (goes) begin_sensing(W, here, of, k);
#endif
    if (goes) begin_step(here);
    __syncthreads();
    if (goes) find_velocities(here);
    __syncthreads();
    if (goes) end_step(here), made += !W.failed;
  }
  __syncthreads();
#if SENSORS
  if (is_there) sense_end(W, alone(here), of, w, made);
#endif
  if (is_there) save(W, alone(here), of, w, made);
}
extern "C" __global__ void world_size(int* to) { *to = sizeof(World); }
#else
extern "C" int world_size() { return sizeof(World); }
static thread_local Work work;
extern "C" void count_work(long* to) { to[0] = work.barriers, to[1] = work.rounds; }
extern "C" void steps(const Arguments* of) {
  // Batches on several threads have one library.
  static thread_local World W;
  ONCE for (int w = 0; w < of->worlds; w++) {
    const Here here{0, 1, &W, &work, of->whole, of->reals, own_of(*of, w)};
    load(W, here, *of, w);
    int made = 0;
    ONCE for (int k = 0; k < of->steps && !W.failed; k++) {
#if SENSORS
      begin_sensing(W, here, *of, k);
#endif
      begin_step(here);
      find_velocities(here);
      end_step(here);
      made += !W.failed;
    }
#if SENSORS
    sense_end(W, here, *of, w, made);
#endif
    save(W, here, *of, w, made);
  }
}
#endif
