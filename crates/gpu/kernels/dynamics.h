// The articulated-body algorithm about one point, degree of freedom by degree of freedom.

// Factors M + Λ. Articulated inertias stand in scratch by rows; a lane has a row of a node.
PHASE void factor(const Here here) {
  WORLD;
  real(*A)[6][6] = (real(*)[6][6])W.scratch;
  EACH(i, NODES) {
    V3 h = get3(W.moment[i]);
    const real *I = W.rotational[i], m = node_mass(i);
    const real rows[6][6] = {{I[0], I[1], I[2], 0, -h.z, h.y}, {I[1], I[3], I[4], h.z, 0, -h.x}, {I[2], I[4], I[5], -h.y, h.x, 0},
                             {0, h.z, -h.y, m, 0, 0},          {-h.z, 0, h.x, 0, m, 0},          {h.y, -h.x, 0, 0, 0, m}};
#pragma unroll
    for (int r = 0; r < 6; r++)
#pragma unroll
      for (int c = 0; c < 6; c++) A[i][r][c] = rows[r][c];
  }
  SYNC;
  ONCE for (int l = LEVELS - 1; l >= 0; l--) {
    LEVEL(l, first, n);
    EACH(e, 8 * n) {
      int i = first + (e >> 3), r = e & 7;
      if (r < 6) {
        const int start = node_children(0, i), end = start + node_children(1, i);
        ONCE for (int child = start; child < end; child++)
          for (int c = 0; c < 6; c++) A[i][r][c] += A[child][r][c];
      }
    }
    ONCE for (int k = LEVEL_DOFS[l] - 1; k >= 0; k--) {
      EACH(e, 8 * n) {
        int i = first + (e >> 3), r = e & 7, dof = node_v(i) + k;
        if (r < 6 && k < node_nv(i)) {
          real u = 0;
          for (int c = 0; c < 6; c++) u += A[i][r][c] * W.axis[dof][c];
          W.u[dof][r] = u;
        }
      }
      SYNC;
      EACH(e, 8 * n) {
        int i = first + (e >> 3), r = e & 7, dof = node_v(i) + k;
        if (r < 6 && k < node_nv(i)) {
          real d = W.lambda[dof], u[6];
          for (int c = 0; c < 6; c++) u[c] = W.u[dof][c], d += W.axis[dof][c] * u[c];
          real inverse = recip(d), s = W.u[dof][r] * inverse;
          if (r == 0) W.d_inv[dof] = inverse;
          if (k > 0 || node_parent(i) >= 0)
            for (int c = 0; c < 6; c++) A[i][r][c] -= s * u[c];
        }
      }
    }
    SYNC;
  }
}

// Solves (M + Λ) x = r − Σ Jᵀ load with r in x: to x, and to the motions of nodes in place of their loads. Of free motion (CHANGES) loads are the
// forces, and motions the changes.
PHASE void respond(const Here here, Motions which) {
  WORLD;
  const real(*loads)[6] = which == CHANGES ? W.force : W.load;
  real(*to)[6] = which == CHANGES ? W.change : W.load;
  // From right-hand sides to what they are less what children bear.
  ONCE for (int l = CHAIN_LEVELS - 1; l >= 0; l--) {
    CHAIN_LEVEL(l, first, n);
    EACH(e, n) {
      const int chain = first + e, last = chain_length(chain) - 1, start = node_children(0, chain_node(last, chain));
      const int end = start + node_children(1, chain_node(last, chain));
      Spatial load = get6(loads[chain_node(last, chain)]);
      ONCE for (int child = start; child < end; child++) load = load + get6(to[child]);
      ONCE for (int j = last; j >= 0; j--) {
        const int i = chain_node(j, chain), v = node_v(i);
        if (j < last) load = get6(loads[i]) + load;
        ONCE for (int k = v + node_nv(i) - 1; k >= v; k--) {
          real x = W.x[k] - dot(get6(W.axis[k]), load);
          W.x[k] = x;
          load = load + (W.d_inv[k] * x) * get6(W.u[k]);
        }
      }
      put6(to[chain_node(0, chain)], load);
    }
    SYNC;
  }
  ONCE for (int l = 0; l < CHAIN_LEVELS; l++) {
    CHAIN_LEVEL(l, first, n);
    EACH(e, n) {
      const int chain = first + e;
      Spatial motion = of_parent(W, here, to, chain_node(0, chain));
      ONCE for (int j = 0; j < chain_length(chain); j++) {
        const int i = chain_node(j, chain), v = node_v(i);
        ONCE for (int k = v; k < v + node_nv(i); k++) {
          real x = W.d_inv[k] * (W.x[k] - dot(motion, get6(W.u[k])));
          W.x[k] = x;
          motion = motion + x * get6(W.axis[k]);
        }
        put6(to[i], motion);
      }
    }
    SYNC;
  }
}

// v*ᵀ (M + Λ) v*
PHASE real energy_of_free_motion(const Here here) {
  WORLD;
  real sum = 0;
  EACH(i, NODES) {
    Spatial motion = get6(W.twist[i]) + get6(W.change[i]);
    sum += dot(motion, momentum(W, here, i, motion));
  }
  EACH(k, NV) sum += W.v_star[k] * W.v_star[k] * W.lambda[k];
  sum = sum_of(here, sum);
  SYNC;
  return sum;
}

// Positions after dt.
PHASE void advance(const Here here) {
  WORLD;
  EACH(i, NODES) {
    const int q = node_q(i), v = node_v(i), joint = node_joint(i);
    const real dt = R(DT);
    if ((BALLS && joint == BALL) || (FREES && joint == FREE)) {
      const int offset = joint == FREE ? 3 : 0;
      ONCE for (int k = 0; k < offset; k++) W.q[q + k] += dt * W.v_of_q[v + k];
      real* of = W.q + q + offset;
      Quat turned = unit(quat(of) * rotation(dt * get3(W.v_of_q + v + offset)));
      of[0] = turned.w;
      put3(of + 1, turned.v);
    } else {
      W.q[q] += dt * W.v_of_q[v];
    }
  }
  SYNC;
}
