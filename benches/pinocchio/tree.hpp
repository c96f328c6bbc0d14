// A kinematic tree and states of it as plain text, and the Pinocchio model of it.
//
//   gravity gx gy gz                                   m/s²
//   body PARENT KIND axis position orientation mass com inertia
//   armature a                                         kg m² or kg, one number a degree of freedom; may be left out
//   state q v tau a
//
// One line each, bodies before the others. Bodies are numbered from 1 in the order of their lines, PARENT 0 is the world.
// KIND is free, ball or revolute; axis (3) is the revolute joint's, in the body's frame, and zero otherwise. Position
// (3, m) and orientation (w x y z) place the body's frame, which is the joint's, in the parent's. Then mass (kg), centre
// of mass (3, m) and the inertia about it (xx yy zz xy xz yz, kg m²), both in the body's frame. States are in Pinocchio's
// coordinates: quaternions x y z w, a free joint's velocity in the body's axes, linear part first. Their accelerations a are
// what the other side computed from q, v and tau.
#pragma once

#include <array>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

struct State {
    Eigen::VectorXd q, v, tau, a;
};

struct Tree {
    pinocchio::Model model;
    std::vector<State> states;
};

// Reads the numbers of one line; says which line lacks one.
class LineReader {
  public:
    LineReader(const std::string &line, int number) : stream_(line), number_(number) {}

    double number() {
        double x;
        if (!(stream_ >> x)) fail("expected a number");
        return x;
    }

    int index() {
        int i;
        if (!(stream_ >> i)) fail("expected an index");
        return i;
    }

    std::string word() {
        std::string word;
        if (!(stream_ >> word)) fail("expected a word");
        return word;
    }

    Eigen::VectorXd vector(Eigen::Index size) {
        Eigen::VectorXd x(size);
        for (Eigen::Index i = 0; i < size; ++i) x[i] = number();
        return x;
    }

    void end() {
        std::string rest;
        if (stream_ >> rest) fail("nothing expected after the last number, found '" + rest + "'");
    }

    [[noreturn]] void fail(const std::string &message) const {
        throw std::runtime_error("line " + std::to_string(number_) + ": " + message);
    }

  private:
    std::istringstream stream_;
    int number_;
};

// The joint type with the fewest operations: one of its own for each coordinate axis.
inline pinocchio::JointModel revolute(const Eigen::Vector3d &axis) {
    if (axis == Eigen::Vector3d::UnitX()) return pinocchio::JointModelRX();
    if (axis == Eigen::Vector3d::UnitY()) return pinocchio::JointModelRY();
    if (axis == Eigen::Vector3d::UnitZ()) return pinocchio::JointModelRZ();
    return pinocchio::JointModelRevoluteUnaligned(axis.normalized());
}

inline void add_body(pinocchio::Model &model, LineReader &line) {
    const int parent = line.index();
    if (parent < 0 || parent >= model.njoints) line.fail("no such parent: " + std::to_string(parent));
    const std::string kind = line.word();
    const Eigen::Vector3d axis = line.vector(3);
    const Eigen::Vector3d position = line.vector(3);
    const Eigen::Vector4d wxyz = line.vector(4);
    const Eigen::Quaterniond orientation = Eigen::Quaterniond(wxyz[0], wxyz[1], wxyz[2], wxyz[3]).normalized();
    const double mass = line.number();
    const Eigen::Vector3d com = line.vector(3);
    const auto i = line.vector(6);
    Eigen::Matrix3d inertia;
    inertia << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];

    pinocchio::JointModel joint;
    if (kind == "free") joint = pinocchio::JointModelFreeFlyer();
    else if (kind == "ball") joint = pinocchio::JointModelSpherical();
    else if (kind == "revolute") joint = revolute(axis);
    else line.fail("expected free, ball or revolute, found '" + kind + "'");
    const auto added = model.addJoint(parent, joint, pinocchio::SE3(orientation.toRotationMatrix(), position),
                                      "body" + std::to_string(model.njoints));
    model.appendBodyToJoint(added, pinocchio::Inertia(mass, com, inertia), pinocchio::SE3::Identity());
}

inline Tree read_tree(std::istream &input) {
    Tree tree;
    std::string text;
    for (int number = 1; std::getline(input, text); ++number) {
        if (text.empty()) continue;
        LineReader line(text, number);
        const std::string keyword = line.word();
        if (keyword == "gravity") {
            tree.model.gravity.linear() = line.vector(3);
        } else if (keyword == "body") {
            if (!tree.states.empty()) line.fail("bodies come before states");
            add_body(tree.model, line);
        } else if (keyword == "armature") {
            tree.model.armature = line.vector(tree.model.nv);
        } else if (keyword == "state") {
            State state;
            state.q = line.vector(tree.model.nq);
            state.v = line.vector(tree.model.nv);
            state.tau = line.vector(tree.model.nv);
            state.a = line.vector(tree.model.nv);
            tree.states.push_back(state);
        } else {
            line.fail("expected gravity, body, armature or state, found '" + keyword + "'");
        }
        line.end();
    }
    if (tree.states.empty()) throw std::runtime_error("expected at least one state");
    return tree;
}
