// Numbers, vectors and the way in which the lanes of a world share work. The host compiles the same text: a world is one lane there.
//
// A phase is a loop over items, `EACH(i, n)`, that ends in `SYNC`. Nothing passes a barrier in a register but what a reduction returns. Items of a
// phase may come in any order; the host runs them backwards (REVERSE) or shuffled (SHUFFLE) to prove it.
#ifdef __CUDACC__
#define FN __device__ __forceinline__
// A phase is a function of its own, once in the code: what several worlds run at different times must fit into the cache of instructions. It
// finds its world in shared memory by itself, since a reference would be an address of any memory.
#define PHASE __device__ __noinline__
// So is what is called from many places.
#define CALLED PHASE
#define WORLD World& W = *(World*)(shared_memory + here.at)
extern __shared__ char shared_memory[];
#define CONSTANT __constant__
#define EACH(i, n) _Pragma("unroll 1") for (int i = here.lane; i < (n); i += LANES)
#define SYNC __syncwarp(here.mask)
#define LEAD if (here.lane == 0)
// A loop that is not unrolled.
#define ONCE _Pragma("unroll 1")
#else
#include <cmath>
// What a GPU would do: barriers, and rounds of loops over items by the lanes of a world.
struct Work { long barriers, rounds; };
enum { LANES_OF_GPU = LANES };
static inline int start_rounds(Work& work, int n) { return work.rounds += (n + LANES_OF_GPU - 1) / LANES_OF_GPU, 0; }
#undef LANES
#define LANES 1
#define FN static inline
#define PHASE static
#define CALLED static
#define WORLD World& W = *here.world
struct World;
#define CONSTANT static const
#if defined(REVERSE)
#define EACH(i, n) for (int i = (n) - 1; i >= 0; i--)
#elif defined(SHUFFLE)
static inline int shuffled(int i, int n) { return (int)(((long)i * 7919 + 3) % n); }
#define EACH(i, n) for (int i##_ = 0, i; i##_ < (n) && (i = shuffled(i##_, n), true); i##_++)
#else
#define EACH(i, n) for (int i = start_rounds(*here.work, n); i < (n); i++)
#endif
#define SYNC here.work->barriers++
#define LEAD
#define ONCE
#endif

#ifdef DOUBLE
typedef double real;
#define IS_SINGLE 0
#else
typedef float real;
#define IS_SINGLE 1
#endif
#define R(x) ((real)(x))
#define BY_PRECISION(double_, single_) R(IS_SINGLE ? (single_) : (double_))
#define INFINITE R(1e30)
// Arrays of nothing have room for one.
#define ROOM(n) ((n) > 0 ? (n) : 1)

// A lane of a world, where its world is, and the tables of its model: of the plan, and of the numbers that a world may have of its own.
//
// A warp may hold several worlds. While they do the same (free motion, detection of contacts, the end of a step) their lanes keep together: `mask`
// are all of them, and `any_in_group` decides for all. In the contact problem, where each goes its own way, `mask` is that of one world.
struct Here {
  int lane;
  unsigned mask;
#ifdef __CUDACC__
  unsigned at;
#else
  World* world;
  Work* work;
#endif
  const int* whole;
  const real* reals;
  const real* own;
};

FN real max_(real a, real b) { return a > b ? a : b; }
FN real min_(real a, real b) { return a < b ? a : b; }
FN real clamp_(real x, real low, real high) { return min_(max_(x, low), high); }
FN real abs_(real x) { return x < 0 ? -x : x; }
#ifdef DOUBLE
FN real sqrt_(real x) { return sqrt(x); }
FN real recip(real x) { return 1.0 / x; }
FN void sin_cos(real x, real& s, real& c) { s = sin(x); c = cos(x); }
FN real atan2_(real y, real x) { return atan2(y, x); }
FN real power_(real x, real p) { return pow(x, p); }
FN real with_sign(real x, real of) { return copysign(x, of); }
FN real rounded(real x) { return rint(x); }
FN bool is_number(real x) { return x - x == 0; }
#else
FN real sqrt_(real x) { return sqrtf(x); }
#ifdef __CUDACC__
FN real recip(real x) { return __fdividef(1.0f, x); }
#else
FN real recip(real x) { return 1.0f / x; }
#endif
FN real atan2_(real y, real x) { return atan2f(y, x); }
FN real power_(real x, real p) { return powf(x, p); }
FN real with_sign(real x, real of) { return copysignf(x, of); }
FN real rounded(real x) { return rintf(x); }
FN bool is_number(real x) { return x - x == 0; }
// Without the slow path for arguments that no joint has: quarter turns off in two parts, then polynomials.
FN void sin_cos(real x, real& s, real& c) {
  float n = rintf(x * 0.636619772f), r = fmaf(n, -1.57079637f, x);
  r = fmaf(n, 4.37113883e-8f, r);
  float z = r * r;
  float sr = fmaf(r * z, fmaf(z, fmaf(z, -1.95152959e-4f, 8.33216087e-3f), -1.66666546e-1f), r);
  float cr = fmaf(z, fmaf(z, fmaf(z, fmaf(z, 2.44331571e-5f, -1.38873162e-3f), 4.16666456e-2f), -0.5f), 1.0f);
  int k = (int)n;
  float a = k & 1 ? cr : sr, b = k & 1 ? sr : cr;
  s = k & 2 ? -a : a;
  c = (k + 1) & 2 ? -b : b;
}
#endif

FN real sin_of(real x) {
  real s, c;
  sin_cos(x, s, c);
  return s;
}

// Reductions over the lanes of a world; every lane gets the result.
#ifdef __CUDACC__
FN real sum_of(const Here here, real x) {
#pragma unroll
  for (int o = LANES / 2; o; o /= 2) x += __shfl_xor_sync(here.mask, x, o, LANES);
  return x;
}
FN real max_of(const Here here, real x) {
#pragma unroll
  for (int o = LANES / 2; o; o /= 2) x = max_(x, __shfl_xor_sync(here.mask, x, o, LANES));
  return x;
}
// A bit for each lane, the first one lowest.
FN unsigned votes(const Here here, bool x) {
  return (__ballot_sync(here.mask, x) >> (threadIdx.x % 32 / LANES * LANES)) & (LANES == 32 ? ~0u : (1u << (LANES & 31)) - 1);
}
FN bool any_in_group(const Here here, bool x) { return __any_sync(here.mask, x); }
// The lanes of one world, and this lane among them alone.
FN unsigned own_lanes() { return LANES == 32 ? ~0u : ((1u << (LANES & 31)) - 1) << (threadIdx.x % 32 / LANES * LANES); }
FN Here alone(Here here) {
  here.mask = own_lanes();
  return here;
}
FN int count_bits(unsigned x) { return __popc(x); }
FN int lowest_bit(unsigned x) { return __ffs(x) - 1; }
#else
FN real sum_of(const Here, real x) { return x; }
FN real max_of(const Here, real x) { return x; }
FN unsigned votes(const Here, bool x) { return x; }
FN bool any_in_group(const Here, bool x) { return x; }
FN Here alone(Here here) { return here; }
FN int count_bits(unsigned x) { return __builtin_popcount(x); }
FN int lowest_bit(unsigned x) { return __builtin_ctz(x); }
#endif
FN bool any_of(const Here here, bool x) { return votes(here, x) != 0; }
// The place of this lane among those that vote yes.
FN int place_of(const Here here, unsigned yes) { return count_bits(yes & ((1u << here.lane) - 1)); }

struct V3 { real x, y, z; };
FN V3 v3(real x, real y, real z) { return V3{x, y, z}; }
FN V3 get3(const real* p) { return V3{p[0], p[1], p[2]}; }
FN void put3(real* p, V3 v) { p[0] = v.x; p[1] = v.y; p[2] = v.z; }
FN V3 operator+(V3 a, V3 b) { return V3{a.x + b.x, a.y + b.y, a.z + b.z}; }
FN V3 operator-(V3 a, V3 b) { return V3{a.x - b.x, a.y - b.y, a.z - b.z}; }
FN V3 operator-(V3 a) { return V3{-a.x, -a.y, -a.z}; }
FN V3 operator*(real s, V3 a) { return V3{s * a.x, s * a.y, s * a.z}; }
FN real dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
FN V3 cross(V3 a, V3 b) { return V3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
FN real norm(V3 a) { return sqrt_(dot(a, a)); }
FN V3 absolute(V3 a) { return V3{abs_(a.x), abs_(a.y), abs_(a.z)}; }
FN real largest(V3 a) { return max_(a.x, max_(a.y, a.z)); }
// Whether there is a direction; `v` has length 1 then.
FN bool normalise(V3& v) {
  real length = norm(v);
  if (!(length > 0) || !is_number(length)) return false;
  v = recip(length) * v;
  return true;
}

// A twist or wrench: angular part first, about the origin of the tree, in world axes.
struct Spatial { V3 ang, lin; };
FN Spatial get6(const real* p) { return Spatial{get3(p), get3(p + 3)}; }
FN void put6(real* p, Spatial s) { put3(p, s.ang); put3(p + 3, s.lin); }
FN Spatial operator+(Spatial a, Spatial b) { return Spatial{a.ang + b.ang, a.lin + b.lin}; }
FN Spatial operator-(Spatial a, Spatial b) { return Spatial{a.ang - b.ang, a.lin - b.lin}; }
FN Spatial operator*(real s, Spatial a) { return Spatial{s * a.ang, s * a.lin}; }
FN real dot(Spatial a, Spatial b) { return dot(a.ang, b.ang) + dot(a.lin, b.lin); }
// v × u: how a motion that is fixed in a body changes as the body moves; v ×* f: a wrench.
FN Spatial cross_twist(Spatial v, Spatial u) { return Spatial{cross(v.ang, u.ang), cross(v.ang, u.lin) + cross(v.lin, u.ang)}; }
FN Spatial cross_wrench(Spatial v, Spatial f) { return Spatial{cross(v.ang, f.ang) + cross(v.lin, f.lin), cross(v.ang, f.lin)}; }

// A rotation by columns.
FN V3 turn(const real* m, V3 v) {
  return v3(m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z, m[2] * v.x + m[5] * v.y + m[8] * v.z);
}
FN V3 turn_back(const real* m, V3 v) { return v3(dot(get3(m), v), dot(get3(m + 3), v), dot(get3(m + 6), v)); }

// A symmetric matrix: xx, xy, xz, yy, yz, zz.
FN V3 times(const real* s, V3 v) {
  return v3(s[0] * v.x + s[1] * v.y + s[2] * v.z, s[1] * v.x + s[3] * v.y + s[4] * v.z, s[2] * v.x + s[4] * v.y + s[5] * v.z);
}

struct Quat { real w; V3 v; };
FN Quat quat(const real* q) { return Quat{q[0], get3(q + 1)}; }
FN Quat operator*(Quat a, Quat b) { return Quat{a.w * b.w - dot(a.v, b.v), cross(a.v, b.v) + a.w * b.v + b.w * a.v}; }
FN Quat conjugate(Quat q) { return Quat{q.w, -q.v}; }
FN Quat unit(Quat q) {
  real s = recip(sqrt_(q.w * q.w + dot(q.v, q.v)));
  return Quat{q.w * s, s * q.v};
}
// exp(θ), the rotation by a vector of at most π.
FN Quat rotation(V3 theta) {
  V3 half = R(0.5) * theta;
  real z = dot(half, half), h = sqrt_(z), s, c;
  sin_cos(h, s, c);
  real sinc = z < BY_PRECISION(1e-12, 1e-6) ? 1 - z * R(1.0 / 6) : s / h;
  return Quat{c, sinc * half};
}
// The rotation vector of the shorter arc; the quaternion may have any norm.
FN V3 rotation_vector(Quat q) {
  real side = q.w < 0 ? R(-1) : R(1), s = norm(q.v), w = q.w * side;
  real per = s > R(1e-20) ? 2 * atan2_(s, w) / s : 2 / max_(w, R(1e-20));
  return (side * per) * q.v;
}
FN void to_matrix(Quat q, real* m) {
  real x2 = 2 * q.v.x, y2 = 2 * q.v.y, z2 = 2 * q.v.z, xx = q.v.x * x2, yy = q.v.y * y2, zz = q.v.z * z2;
  real xy = q.v.x * y2, xz = q.v.x * z2, yz = q.v.y * z2, wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  put3(m, v3(1 - yy - zz, xy + wz, xz - wy));
  put3(m + 3, v3(xy - wz, 1 - xx - zz, yz + wx));
  put3(m + 6, v3(xz + wy, yz - wx, 1 - xx - yy));
}
// Two unit vectors that complete a unit normal to a right-handed frame (Duff et al., Building an Orthonormal Basis, Revisited).
FN void tangents(V3 n, V3& t1, V3& t2) {
  real sign = n.z < 0 ? R(-1) : R(1), a = -recip(sign + n.z), b = n.x * n.y * a;
  t1 = v3(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
  t2 = v3(b, sign + n.y * n.y * a, -n.y);
}
// (t1, t2, n) by columns.
FN void frame_of(V3 n, real* m) {
  V3 t1, t2;
  tangents(n, t1, t2);
  put3(m, t1);
  put3(m + 3, t2);
  put3(m + 6, n);
}
