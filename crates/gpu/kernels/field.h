// A height field against convex shapes: contacts of faces, edges and corners of the surface, each within the directions that it faces. The point of
// the surface that is nearest to a shape lies in a triangle, on an edge or at a corner, and the way to the shape is one of the directions that this
// feature faces, so that each is looked at by support points along its own directions alone. What is below the surface is pushed up along them.

#if FIELDS
// Points of one field and shape with normals within this cosine stand for one another.
#define SAME_PATCH R(0.95)
// Share of a cell's size within which points are one, and by which a surface must fall away at a ridge.
#define BORDER BY_PRECISION(1e-6, 1e-4)
// Share of a side's length by which a point may be beside a triangle that it counts as over.
#define BESIDE BY_PRECISION(1e-9, 1e-5)
// Flat faces and straight edges of a shape within this angle of a direction face it as a whole, rad.
#define TILT R(1e-3)
// Share of a cell's size by which what is deeper in a triangle must be under the surface as well: it may be beyond a ridge.
#define DEEP R(0.1)
// Directions across an edge that are tried at most; where the shape lies straight over the edge, and on its own outline, m.
#define MAX_TRIED 40
#define STRAIGHT BY_PRECISION(1e-10, 1e-6)
#define ON_OUTLINE BY_PRECISION(1e-12, 1e-7)
// Points of a field and a shape before few are chosen.
#define FIELD_POINTS 96

// A shape over a height field, in the axes of the field with the shape's position as origin.
struct Query {
  int first, rows, columns, row[2], column[2];
  real dx, dy, hx, hy, base, limit, bottom, radius;
  V3 position;
  const Body* body;
  Placed shape;
};
// A triangle within reach: corners counter-clockwise from above, row, column and half of its cell; the shape's core's farthest point against the
// normal, how far that is beyond each side as a share of the cell, the distance from the plane, whether the shape has a face or an edge along it.
struct Facet { V3 corner[3], normal, low; int cell[3]; real beyond[3], distance; bool is_along; };
struct FieldPoints { int count, lost; Point of[FIELD_POINTS]; };

FN real height_of(const Here here, const Query& s, int row, int column) { return field_height(s.first + row * s.columns + column); }
FN bool is_in_field(const Query& s, int row, int column) { return row >= 0 && column >= 0 && row < s.rows && column < s.columns; }
FN V3 sample(const Here here, const Query& s, int row, int column) {
  return v3(column * s.dx - s.hx, row * s.dy - s.hy, height_of(here, s, row, column)) - s.position;
}

// Whether the core has a flat face or a straight edge that faces the unit vector d within a small angle.
CALLED bool is_along(const Here here, const Placed& p, V3 d, real angle) {
  V3 l = turn_back(p.at.rot, d);
  if (p.shape == CAPSULE) return abs_(l.z) <= angle;
  if (p.shape == CYLINDER) return abs_(l.z) <= angle || l.x * l.x + l.y * l.y <= angle * angle;
  if (p.shape == BOX) return min_(abs_(l.x), min_(abs_(l.y), abs_(l.z))) <= angle;
#if HULLS
  if (p.shape == HULL) {
    const int top = farthest_vertex(here, p.hull, l);
    ONCE for (int k = vertex_range(0, top); k < vertex_range(1, top); k++) {
      V3 edge = AT3(hull_vertex, hull_neighbour(k)) - AT3(hull_vertex, top);
      real rise = dot(edge, l);
      if (rise * rise <= angle * angle * dot(edge, edge)) return true;
    }
  }
#endif
  return false;
}

// How far above the surface a point is along the normal of the triangle under it; false beside the field and below its base.
CALLED bool above_field(const Here here, const Query& s, V3 p, real& distance) {
  real x = (p.x + s.hx) / s.dx, y = (p.y + s.hy) / s.dy;
  if (!(x >= 0 && y >= 0 && x <= s.columns - 1 && y <= s.rows - 1) || p.z < -s.base) return false;
  const int column = (int)min_(x, s.columns - 2), row = (int)min_(y, s.rows - 2);
  real u = x - column, v = y - row, low = height_of(here, s, row, column), high = height_of(here, s, row + 1, column + 1);
  const bool is_first = u >= v;
  real corner = is_first ? height_of(here, s, row, column + 1) : height_of(here, s, row + 1, column);
  real slope_x = is_first ? corner - low : high - corner, slope_y = is_first ? high - corner : corner - low;
  distance = (p.z - (low + slope_x * u + slope_y * v)) / norm(v3(-slope_x / s.dx, -slope_y / s.dy, 1));
  return true;
}

// A triangle, if it is one of those looked at and the shape reaches its plane. Each cell is cut along its diagonal from low row and column to high
// row and column.
CALLED bool find_facet(const Here here, const Query& s, int row, int column, int half, Facet& f) {
  if (row < s.row[0] || row > s.row[1] || column < s.column[0] || column > s.column[1]) return false;
  const V3 a = sample(here, s, row, column), b = sample(here, s, row, column + 1), c = sample(here, s, row + 1, column + 1), d = sample(here, s, row + 1, column);
  const real high = max_(max_(a.z, b.z), max_(c.z, d.z)), low = min_(min_(a.z, b.z), min_(c.z, d.z));
  if (high < s.bottom - s.position.z) return false;
  // Out of reach of the box around the cell, by a plane across the way from the shape's centre to the nearest point of the box.
  V3 p = s.shape.centre, nearest = v3(clamp_(p.x, a.x, c.x), clamp_(p.y, a.y, c.y), clamp_(p.z, low, high)), away = p - nearest;
  real squared = dot(away, away), reach = s.radius + s.limit;
  if (squared > reach * reach) return false;
  real facing = dot(support(here, s.shape, -away) - nearest, away);
  reach = s.shape.radius + s.limit;
  if (facing > 0 && facing * facing > reach * reach * squared) return false;
  f.corner[0] = a, f.corner[1] = half ? c : b, f.corner[2] = half ? d : c;
  f.cell[0] = row, f.cell[1] = column, f.cell[2] = half;
  real slope_x = half ? c.z - d.z : b.z - a.z, slope_y = half ? d.z - a.z : c.z - b.z;
  V3 across = v3(-slope_x / s.dx, -slope_y / s.dy, 1);
  f.low = support(here, s.shape, -across);
  real height = dot(f.low - a, across);
  squared = dot(across, across);
  if (height > 0 && height * height > reach * reach * squared) return false;
  real scale = 1 / sqrt_(squared), over;
  f.normal = scale * across, f.distance = height * scale - s.shape.radius;
  if (!(f.distance <= s.limit)) return false;
  // Where the shape is altogether behind the plane, it is beyond a ridge that it has not gone through.
  if (f.distance < -2 * s.radius && above_field(here, s, s.position + s.shape.centre, over) && over > 0) return false;
  V3 foot = f.low - (height / squared) * across - a;
  real u = foot.x / s.dx, v = foot.y / s.dy;
  f.beyond[0] = half ? u - v : -v, f.beyond[1] = half ? v - 1 : u - 1, f.beyond[2] = half ? -u : v - u;
  f.is_along = is_along(here, s.shape, -f.normal, TILT);
  return true;
}

FN V3 end_of_side(const Facet& f, int side) { return f.corner[side % 3]; }
FN V3 outward(const Facet& f, int side) { return cross(end_of_side(f, side + 1) - end_of_side(f, side), f.normal); }

// Whether the surface falls away across a side of a triangle; at the rim of the field it does.
FN bool is_ridge(const Here here, const Query& s, const Facet& f, int side) {
  // The third corner of the neighbour across each side, from the cell's low corner.
  const int far_row[6] = {-1, 1, 1, 0, 2, 0}, far_column[6] = {0, 2, 0, 1, 1, -1}, k = 3 * f.cell[2] + side;
  const int row = f.cell[0] + far_row[k], column = f.cell[1] + far_column[k];
  if (!is_in_field(s, row, column)) return true;
  real far = height_of(here, s, row, column) - s.position.z;
  return end_of_side(f, side).z + end_of_side(f, side + 1).z - end_of_side(f, side + 2).z - far > BORDER * min_(s.dx, s.dy);
}

FN Placed triangle_of(const Facet& f) {
  Placed t{TRIANGLE, -1, v3(0, 0, 0), 0, {}, (R(1) / 3) * (f.corner[0] + f.corner[1] + f.corner[2]), false};
  for (int k = 0; k < 3; k++) put3(t.at.rot + 3 * k, f.corner[k]);
  t.at.pos = v3(0, 0, 0);
  return t;
}

// Takes the points of a feature, but those that earlier ones repeat.
CALLED void take(const Query& s, const Points& points, FieldPoints& to) {
  const real near = BORDER * BORDER * s.dx * s.dy;
  ONCE for (int i = 0; i < points.count; i++) {
    const Point p = points.of[i];
    bool is_known = false;
    ONCE for (int k = 0; k < to.count && !is_known; k++) {
      V3 apart = to.of[k].position - p.position;
      is_known = dot(apart, apart) < near && dot(to.of[k].normal, p.normal) > 1 - BORDER;
    }
    if (is_known) continue;
    if (to.count < FIELD_POINTS) to.of[to.count++] = p;
    else to.lost++;
  }
}

FN Nearest straight(const Query& s, const Facet& f) {
  return Nearest{f.normal, f.low - (s.shape.radius + R(0.5) * f.distance) * f.normal, f.distance};
}
// Whether a face or an edge of the shape that is along a triangle's plane may lie over the triangle.
FN bool lies_on(const Here here, const Query& s, const Facet& f) {
  ONCE for (int side = 0; side < 3; side++) {
    V3 out = outward(f, side), tilted = f.normal + (TILT / norm(out)) * out;
    if (!(dot(support(here, s.shape, -tilted) - f.corner[side], out) <= BESIDE * dot(out, out))) return false;
  }
  return true;
}
// Appends contact points along the normal of a triangle.
CALLED void touch_face(const Here here, const Query& s, const Facet& f, FieldPoints& to) {
  Points points;
  points.count = 0;
  const Nearest nearest = straight(s, f);
  if (f.beyond[0] <= BESIDE && f.beyond[1] <= BESIDE && f.beyond[2] <= BESIDE) {
    real over;
    V3 p = nearest.position + (R(0.5) * nearest.distance) * nearest.normal;
    if (nearest.distance < -DEEP * min_(s.dx, s.dy) && above_field(here, s, s.position + p, over) && over > 0) return;
    add_manifold(here, triangle_of(f), s.shape, nearest, s.limit, points);
  } else {
    // Among flat or hollow surroundings nothing touches the border alone.
    bool has_ridge = false;
    ONCE for (int side = 0; side < 3; side++) has_ridge |= is_ridge(here, s, f, side);
    if (has_ridge && !(f.is_along && lies_on(here, s, f))) return;
    clip_features(here, triangle_of(f), s.shape, nearest.position, nearest.normal, s.limit, points);
  }
  take(s, points, to);
}

// Distance of a point from the shape, and the way in which that grows fastest; false where it is more than the limit.
CALLED bool distance_from(const Here here, const Query& s, V3 p, V3& away, real& distance) {
  const Body& body = *s.body;
  V3 l = within(s.shape.at, p);
  if (body.shape <= CAPSULE) {
    away = body.shape == CAPSULE ? v3(l.x, l.y, l.z - clamp_(l.z, -body.size.y, body.size.y)) : l;
    real length = norm(away);
    away = length > 0 ? (1 / length) * away : body.shape == CAPSULE ? v3(1, 0, 0) : v3(0, 0, 1);
    distance = length - body.size.x;
  }
  if (body.shape == BOX) distance = outside_box(l, body.size, away);
#if CURVED
  if (body.shape == CYLINDER) distance = outside_cylinder(l, body.size.x, body.size.y, away);
  if (body.shape == ELLIPSOID) distance = outside_ellipsoid(l, body.size, away);
#endif
#if HULLS
  if (body.shape == HULL) {
    // From inside the nearest face, from outside by the nearest points where the point is not over a face.
    int best = -1;
    real most = -INFINITE;
    ONCE for (int f = hull_of(3, body.hull); f < hull_of(4, body.hull); f++) {
      real height = dot(l - AT3(hull_vertex, hull_corner(face_range(0, f))), AT3(face_normal, f));
      if (height > s.limit) return false;
      if (height > most) most = height, best = f;
    }
    bool is_over = true;
    V3 n = AT3(face_normal, best), from = AT3(hull_vertex, hull_corner(face_range(1, best) - 1));
    ONCE for (int k = face_range(0, best); k < face_range(1, best); k++) {
      V3 corner = AT3(hull_vertex, hull_corner(k)), edge = corner - from;
      is_over &= dot(cross(edge, l - from), n) >= -BESIDE * dot(edge, edge);
      from = corner;
    }
    away = n, distance = most;
    if (most > 0 && !is_over) {
      Placed hull = s.shape, point{SPHERE, -1, v3(0, 0, 0), 0, {{1, 0, 0, 0, 1, 0, 0, 0, 1}, p}, p, false};
      Nearest found;
      if (!nearest(here, hull, point, s.limit, found)) return false;
      away = found.normal, distance = found.distance;
      return distance <= s.limit;
    }
  }
#endif
  away = turn(s.shape.at.rot, away);
  return distance <= s.limit;
}

// Appends the contact point at a corner of a triangle, if the shape is in the cone of directions that the corner faces.
CALLED void touch_corner(const Here here, const Query& s, const Facet& f, int corner, FieldPoints& to) {
  const int row = f.cell[0] + (corner == 2 || (corner == 1 && f.cell[2])), column = f.cell[1] + (f.cell[2] ? corner == 1 : corner > 0);
  // A corner that may face any direction is not below the middle of two neighbours that are opposite to one another.
  const real own = height_of(here, s, row, column);
  ONCE for (int k = 1; k < 4; k++) {
    const int r = k >> 1, c = k & 1;
    if (is_in_field(s, row - r, column - c) && is_in_field(s, row + r, column + c) &&
        height_of(here, s, row - r, column - c) + height_of(here, s, row + r, column + c) - 2 * own > 2 * TILT * (s.dx + s.dy))
      return;
  }
  const V3 p = f.corner[corner];
  V3 away;
  real distance;
  if (!distance_from(here, s, p, away, distance)) return;
  const V3 normal = -away;
  ONCE for (int k = 0; k < 6; k++) {
    const int r = k < 2 ? -1 : k < 4 ? 0 : 1, c = k == 0 ? -1 : k == 1 ? 0 : k == 2 ? -1 : k == 3 ? 1 : k - 4;
    if (!is_in_field(s, row + r, column + c)) continue;
    V3 edge = sample(here, s, row + r, column + c) - p;
    real rise = dot(edge, normal);
    if (!(rise <= 0 || rise * rise <= TILT * TILT * dot(edge, edge))) return;
  }
  if (!(normal.z > 0)) return;
  Points points;
  points.count = 0;
  add(points, p + (R(0.5) * distance) * normal, normal, distance);
  take(s, points, to);
}

// An edge that stands out, and the plane across it: along it, the normal of the one triangle, and out of that triangle in its plane.
struct Ridge { V3 start, axis, up, out; };
struct V2 { real x, y; };
FN real dot(V2 a, V2 b) { return a.x * b.x + a.y * b.y; }
FN real cross(V2 a, V2 b) { return a.x * b.y - a.y * b.x; }
FN bool normalise(V2& v) {
  real length = sqrt_(v.x * v.x + v.y * v.y);
  if (!(length > 0)) return false;
  v.x /= length, v.y /= length;
  return true;
}
// A direction, or the middle of two others where it is not between them.
FN bool keep_between(V2 first, V2& direction, V2 last) {
  if (cross(first, direction) >= 0 && cross(direction, last) >= 0) return true;
  direction = V2{first.x + last.x, first.y + last.y};
  return normalise(direction);
}
FN V3 across_ridge(const Ridge& r, V2 d) { return d.x * r.up + d.y * r.out; }
// A direction across an edge, and the shape's farthest point against it, in the plane across the edge; how far the point is along the direction, and
// how far beyond it on the side of the last direction: 0 where the shape is nearest.
struct Tried { V2 direction, point; real along, gap, beyond; };
FN Tried look(const Here here, const Query& s, const Ridge& r, V2 direction) {
  V3 p = support(here, s.shape, -across_ridge(r, direction)) - r.start;
  V2 point{dot(p, r.up), dot(p, r.out)};
  return Tried{direction, point, dot(p, r.axis), dot(direction, point), cross(direction, point)};
}
FN bool is_outside(const Tried& a, const Tried& b) { return (a.beyond < 0 && a.gap >= 0) || (b.beyond > 0 && b.gap >= 0); }
// Two directions with the one between them in which the shape is farthest from the line of an edge.
FN bool bracket(const Here here, const Query& s, const Ridge& r, V2 first, V2 last, Tried& a, Tried& b) {
  a = look(here, s, r, first), b = look(here, s, r, last);
  if (a.beyond >= 0 && b.beyond <= 0) return true;
  if (is_outside(a, b)) return false;
  // The shape reaches through the plane of a triangle: it is seen on one side from the directions of points in it.
  V2 way{b.point.x - a.point.x, b.point.y - a.point.y};
  real share = clamp_(-dot(a.point, way) / max_(dot(way, way), TINY), 0, 1);
  V3 centre = s.shape.centre - r.start;
  ONCE for (int k = 0; k < 2; k++) {
    V2 towards = k ? V2{dot(centre, r.up), dot(centre, r.out)} : V2{a.point.x + share * way.x, a.point.y + share * way.y};
    if (!normalise(towards) || !keep_between(first, towards, last)) continue;
    const Tried seen = look(here, s, r, towards);
    if (!(seen.gap > 0)) continue;
    if (seen.beyond > 0) a = seen;
    else b = seen;
    return !is_outside(a, b);
  }
  return false;
}
// Where a shape is nearest to the line of an edge: there it lies straight over the edge.
struct Crossing { V3 normal; real gap, along; };
FN Crossing crossing_at(const Ridge& r, V2 direction, V2 point, real along) { return Crossing{across_ridge(r, direction), dot(direction, point), along}; }
CALLED bool find_crossing(const Here here, const Query& s, const Ridge& r, V2 first, V2 last, Crossing& found) {
  Tried a, b;
  if (!bracket(here, s, r, first, last, a, b)) return false;
  const bool is_round = is_curved(s.shape);
  ONCE for (int k = 0; k < MAX_TRIED; k++) {
    V2 across{-(b.point.y - a.point.y), b.point.x - a.point.x};
    if (!normalise(across)) {
      V2 own = a.point;
      if (!normalise(own)) return false;
      found = crossing_at(r, own, a.point, a.along);
      return true;
    }
    // Across the chord: of a polygon's edge no point is farther. On a smooth outline the chord is never met: every second time by false position.
    V2 middle{a.direction.x + b.direction.x, a.direction.y + b.direction.y}, direction;
    const bool is_across = !is_round || k % 2 == 0;
    if (is_across) {
      direction = dot(across, middle) < 0 ? V2{-across.x, -across.y} : across;
      if (!keep_between(a.direction, direction, b.direction)) return false;
    } else {
      direction = V2{-b.beyond * a.direction.x + a.beyond * b.direction.x, -b.beyond * a.direction.y + a.beyond * b.direction.y};
      if (!normalise(direction)) return false;
    }
    const Tried now = look(here, s, r, direction);
    if (abs_(now.beyond) <= STRAIGHT) {
      found = crossing_at(r, direction, now.point, now.along);
      return true;
    }
    if (is_across && now.gap >= min_(dot(direction, a.point), dot(direction, b.point)) - ON_OUTLINE) {
      real before = cross(direction, a.point), after = cross(direction, b.point);
      if (before <= 0 || after >= 0) {
        const Tried& end = before <= 0 ? a : b;
        V2 own = end.point;
        if (!normalise(own)) return false;
        found = crossing_at(r, own, end.point, end.along);
      } else {
        found = crossing_at(r, direction, now.point, a.along + before / (before - after) * (b.along - a.along));
      }
      return true;
    }
    bool is_before = now.gap >= 0 ? now.beyond > 0 : a.beyond < 0 ? true : b.beyond > 0 ? false : now.beyond > 0;
    if (is_before) a = now;
    else b = now;
  }
  found = crossing_at(r, a.direction, a.point, a.along);
  return true;
}

// A side that a triangle has, and what the neighbour across it has it as; none where that is out of reach, or the side is on the rim.
CALLED void touch_ridge(const Here here, const Query& s, const Facet& f, int side, const Facet* other, FieldPoints& to) {
  const V3 start = end_of_side(f, side), end = end_of_side(f, side + 1);
  const real length = norm(end - start);
  Ridge r{start, (1 / length) * (end - start), f.normal, v3(0, 0, 0)};
  r.out = cross(r.axis, f.normal);
  // At the rim up to the plane of the triangle.
  V3 beside = other ? other->normal : r.out;
  V2 first{1, 0}, last{dot(beside, r.up), dot(beside, r.out)};
  if (f.is_along) first = V2{1, -TILT};
  if (other && other->is_along) last = V2{last.x - TILT * last.y, last.y + TILT * last.x};
  Crossing found;
  if (!find_crossing(here, s, r, first, last, found)) return;
  const real distance = found.gap - s.shape.radius;
  if (!(distance <= s.limit)) return;
  V3 on_edge = start + clamp_(found.along, 0, length) * r.axis;
  const Nearest nearest{found.normal, on_edge + (R(0.5) * distance) * found.normal, distance};
  Placed edge{CAPSULE, -1, v3(0, R(0.5) * length, 0), 0, {}, R(0.5) * (start + end), false};
  frame_of(r.axis, edge.at.rot), edge.at.pos = edge.centre;
  Points points;
  points.count = 0;
  if (found.along >= 0 && found.along <= length) {
    add_manifold(here, edge, s.shape, nearest, s.limit, points);
    return take(s, points, to);
  }
  // A face or an edge of the shape may lie on the edge although one of its points beyond the edge is nearer by a little.
  if (is_along(here, s.shape, -nearest.normal, TILT)) {
    clip_features(here, edge, s.shape, nearest.position, nearest.normal, s.limit, points);
    bool lies = false;
    ONCE for (int k = 0; k < points.count; k++) {
      real apart = dot(points.of[k].position - r.start, r.axis) - found.along;
      lies |= points.of[k].distance <= nearest.distance + TILT * abs_(apart);
    }
    if (lies) return take(s, points, to);
  }
  touch_corner(here, s, f, found.along > length ? (side + 1) % 3 : side, to);
}
FN bool is_beyond(const Query& s, const Facet& f, int side) { return f.beyond[side] > 0 || f.is_along || f.distance < -s.shape.radius; }
// Appends the contact points on a side of a triangle. Every edge is a side of the first half of a cell, or on the rim of the field.
CALLED void touch_edge(const Here here, const Query& s, const Facet& f, int side, const Facet* other, int other_side, bool is_rim, FieldPoints& to) {
  // Where one of the triangles is out of reach, so is what the edge faces.
  if (!other && !is_rim) return;
  const bool own = is_beyond(s, f, side), others = !other || is_beyond(s, *other, other_side);
  if (!(own || others) || !is_ridge(here, s, f, side)) return;
  // Seen along the normals of both triangles the shape is beyond the edge: else it is nearer to something else.
  if (own && others) return touch_ridge(here, s, f, side, other, to);
  V3 start = end_of_side(f, side), edge = end_of_side(f, side + 1) - start;
  V3 low = own ? f.low : other ? other->low : f.low;
  real along = dot(low - start, edge);
  if (along < 0) touch_corner(here, s, f, side, to);
  else if (along > dot(edge, edge)) touch_corner(here, s, f, (side + 1) % 3, to);
}

// Appends points along the normal of the triangle in the shape that is the least deep, where no feature that faces the shape was found.
CALLED void push_out(const Here here, const Query& s, FieldPoints& to) {
  Facet least;
  bool is_found = false;
  ONCE for (int row = s.row[0]; row <= s.row[1]; row++)
    ONCE for (int e = 2 * s.column[0]; e <= 2 * s.column[1] + 1; e++) {
      Facet f;
      if (!find_facet(here, s, row, e / 2, e % 2, f) || !(f.distance < 0) || (is_found && !(f.distance > least.distance))) continue;
      // It must overlap the shape's core.
      Placed triangle = triangle_of(f), shape = s.shape;
      Simplex simplex;
      V3 n, p, q;
      if (find_nearest(here, triangle, shape, shape.radius, simplex, n, p, q) == OVERLAPPING) least = f, is_found = true;
    }
  if (!is_found) return;
  const Nearest nearest = straight(s, least);
  Points points;
  points.count = 0;
  clip_features(here, triangle_of(least), s.shape, nearest.position, nearest.normal, s.limit, points);
  if (points.count == 0) add(points, nearest.position, nearest.normal, nearest.distance);
  take(s, points, to);
}

FN bool cells(real x, real reach, real size, int samples, int* of) {
  real low = (x - reach) / size, high = (x + reach) / size;
  if (!(high >= 0 && low <= samples - 1)) return false;
  of[0] = (int)clamp_(low, 0, samples - 2), of[1] = (int)clamp_(high, 0, samples - 2);
  return true;
}

// Contact points of a height field and a convex shape.
CALLED void collide_field(const Here here, const Body& field, const Frame& at, const Body& body, const Frame& bt, real limit, Points& out) {
  Query s;
  const int k = field.hull;
  s.first = field_of(0, k), s.rows = field_of(1, k), s.columns = field_of(2, k);
  s.hx = field_size(0, k), s.hy = field_size(1, k), s.base = field_size(2, k), s.limit = limit, s.radius = body.ball, s.body = &body;
  const real top = field_size(3, k);
  s.dx = 2 * s.hx / (s.columns - 1), s.dy = 2 * s.hy / (s.rows - 1), s.position = within(at, bt.pos);
  Frame place;
  for (int j = 0; j < 3; j++) put3(place.rot + 3 * j, turn_back(at.rot, column(bt, j)));
  place.pos = v3(0, 0, 0);
  s.shape = placed(body, place, v3(0, 0, 0));
  V3 centre = s.position + s.shape.centre, reach;
  if (centre.z - s.radius - limit > top) return;
  if (body.shape == HULL) reach = absolute(body.half.x * column(place, 0)) + absolute(body.half.y * column(place, 1)) + absolute(body.half.z * column(place, 2));
  else {
    const real r = s.shape.radius;
    reach = v3(support(here, s.shape, v3(1, 0, 0)).x + r, support(here, s.shape, v3(0, 1, 0)).y + r, support(here, s.shape, v3(0, 0, 1)).z + r);
  }
  reach = reach + v3(limit, limit, limit);
  if (!cells(centre.x + s.hx, reach.x, s.dx, s.columns, s.column) || !cells(centre.y + s.hy, reach.y, s.dy, s.rows, s.row)) return;
  s.bottom = centre.z - reach.z;
  if (s.bottom > top || centre.z + reach.z < -s.base) return;
  FieldPoints found;
  found.count = found.lost = 0;
  bool are_met = false;
  ONCE for (int row = s.row[0]; row <= s.row[1]; row++) {
    ONCE for (int edges = 0; edges < 2; edges++)
      ONCE for (int e = 2 * s.column[0]; e <= 2 * s.column[1] + 1; e++) {
        const int column = e / 2, half = e % 2;
        Facet f, other;
        if (!find_facet(here, s, row, column, half, f)) continue;
        if (!edges) {
          are_met |= f.distance < -s.shape.radius;
          touch_face(here, s, f, found);
        } else if (half == 0) {
          // Each side and what the neighbour across it has it as.
          bool is_there = find_facet(here, s, row - 1, column, 1, other);
          touch_edge(here, s, f, 0, is_there ? &other : 0, 1, row == 0, found);
          is_there = find_facet(here, s, row, column + 1, 1, other);
          touch_edge(here, s, f, 1, is_there ? &other : 0, 2, column == s.columns - 2, found);
          is_there = find_facet(here, s, row, column, 1, other);
          touch_edge(here, s, f, 2, is_there ? &other : 0, 0, false, found);
        } else {
          if (row == s.rows - 2) touch_edge(here, s, f, 1, 0, 0, true, found);
          if (column == 0) touch_edge(here, s, f, 2, 0, 0, true, found);
        }
      }
  }
  if (found.count == 0 && are_met) push_out(here, s, found);
  // At most four points for each direction in which the surface faces.
  unsigned char is_done[FIELD_POINTS];
  ONCE for (int i = 0; i < found.count; i++) is_done[i] = 0;
  ONCE for (int left = found.count; left > 0;) {
    int deepest = -1, count = 0, chosen[4];
    ONCE for (int i = 0; i < found.count; i++)
      if (!is_done[i] && (deepest < 0 || found.of[i].distance < found.of[deepest].distance)) deepest = i;
    const V3 n = found.of[deepest].normal;
    auto is_of = [&](int i) { return !is_done[i] && dot(found.of[i].normal, n) > SAME_PATCH; };
    ONCE for (int i = 0; i < found.count; i++)
      if (is_of(i)) {
        if (count < 4) chosen[count] = i;
        count++;
      }
    left -= count;
    int kept = count;
    if (count > 4)
      kept = choose_spread(found.count, n, [&](int i) {
        Point p = found.of[i];
        if (!is_of(i)) p.distance = INFINITE;
        return p;
      }, chosen);
    Points patch;
    patch.count = 0;
    for (int i = 0; i < kept; i++) add(patch, found.of[chosen[i]].position, found.of[chosen[i]].normal, found.of[chosen[i]].distance);
    add_middle(s.shape.shape, s.shape.shape, patch);
    ONCE for (int i = 0; i < found.count; i++) is_done[i] |= is_of(i);
    ONCE for (int i = 0; i < patch.count; i++) {
      const Point& p = patch.of[i];
      add(out, turn(at.rot, p.position) + bt.pos, turn(at.rot, p.normal), p.distance, p.share);
    }
  }
  // What has had no room is counted as a point too many.
  if (found.lost) out.count = POINTS;
}
#endif
