// Pinocchio's dynamics on one tree: reads it from standard input (see tree.hpp), prints JSON:
//
//   {"pinocchio", "compiler", "simd", "checksum",
//    "residual": x                 what is left of tau by rnea of the given accelerations, relative to tau and the bias
//    "differences": {kernel: x}    of the accelerations that each kernel computes from the given ones, relative to the
//                                  largest of the state
//    "times": {kernel: [ns per call of every batch]}}
//
// Residual and differences are the worst of the states.
//
// Header-only: nothing is linked, so all of Pinocchio and Eigen is compiled with the flags of this file.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <limits>

#include <Eigen/Cholesky>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "batches.hpp"
#include "tree.hpp"

namespace {

using pinocchio::Convention;
using pinocchio::Data;
using pinocchio::Model;

constexpr double BATCH_NANOSECONDS = 2e6;

// Pinocchio's own factor M = U D Uᵀ, sparse along the branches. CRBA fills the upper triangle.
const Eigen::VectorXd &solve_by_branches(const Model &model, Data &data, const State &state, Eigen::VectorXd &x) {
    pinocchio::crba(model, data, state.q);
    pinocchio::cholesky::decompose(model, data);
    return pinocchio::cholesky::solve(model, data, x);
}

const Eigen::VectorXd &solve_dense(const Model &model, Data &data, const State &state,
                                   Eigen::LLT<Eigen::MatrixXd, Eigen::Upper> &llt, Eigen::VectorXd &x) {
    pinocchio::crba(model, data, state.q);
    llt.compute(data.M);
    llt.solveInPlace(x);
    return x;
}

std::vector<Kernel> kernels(const Model &model, Data &data, const std::vector<State> &states) {
    std::vector<Kernel> all;
    for (const Convention convention : {Convention::LOCAL, Convention::WORLD}) {
        const std::string suffix = convention == Convention::WORLD ? "-world" : "";
        all.push_back(over("aba" + suffix, states, [&model, &data, convention](const State &s) {
            return pinocchio::aba(model, data, s.q, s.v, s.tau, convention)[0];
        }));
        all.push_back(over("crba" + suffix, states, [&model, &data, convention](const State &s) {
            return pinocchio::crba(model, data, s.q, convention)(0, 0);
        }));
    }
    all.push_back(over("rnea", states, [&](const State &s) { return pinocchio::rnea(model, data, s.q, s.v, s.a)[0]; }));
    all.push_back(over("kinematics", states, [&](const State &s) {
        pinocchio::forwardKinematics(model, data, s.q);
        return data.oMi.back().translation()[0];
    }));
    all.push_back(over("crba+cholesky", states, [&, x = Eigen::VectorXd()](const State &s) mutable {
        x = s.tau;
        return solve_by_branches(model, data, s, x)[0];
    }));
    all.push_back(over("crba+llt", states,
                       [&, x = Eigen::VectorXd(), llt = Eigen::LLT<Eigen::MatrixXd, Eigen::Upper>(model.nv)](
                           const State &s) mutable {
                           x = s.tau;
                           return solve_dense(model, data, s, llt, x)[0];
                       }));
    return all;
}

double largest(const Eigen::VectorXd &x) {
    return x.allFinite() ? x.lpNorm<Eigen::Infinity>() : std::numeric_limits<double>::infinity();
}

double residual(const Model &model, Data &data, const std::vector<State> &states) {
    double worst = 0.0;
    for (const State &s : states) {
        const double scale = largest(s.tau) + largest(pinocchio::nonLinearEffects(model, data, s.q, s.v));
        worst = std::max(worst, largest(pinocchio::rnea(model, data, s.q, s.v, s.a) - s.tau) / scale);
    }
    return worst;
}

using Named = std::pair<std::string, double>;

std::vector<Named> differences(const Model &model, Data &data, const std::vector<State> &states) {
    std::vector<Named> all = {
        {"aba", 0.0}, {"aba-world", 0.0}, {"crba+cholesky", 0.0}, {"crba+llt", 0.0}};
    Eigen::LLT<Eigen::MatrixXd, Eigen::Upper> llt(model.nv);
    for (const State &s : states) {
        const auto compare = [&](int kernel, const Eigen::VectorXd &a) {
            double &worst = all[kernel].second;
            worst = std::max(worst, largest(a - s.a) / largest(s.a));
        };
        compare(0, pinocchio::aba(model, data, s.q, s.v, s.tau, Convention::LOCAL));
        compare(1, pinocchio::aba(model, data, s.q, s.v, s.tau, Convention::WORLD));
        const Eigen::VectorXd force = s.tau - pinocchio::nonLinearEffects(model, data, s.q, s.v);
        Eigen::VectorXd x = force;
        compare(2, solve_by_branches(model, data, s, x));
        x = force;
        compare(3, solve_dense(model, data, s, llt, x));
    }
    return all;
}

// JSON has no infinity.
void print_number(std::ostream &out, double x) {
    if (std::isfinite(x)) out << x;
    else out << "null";
}

void print_list(std::ostream &out, const std::vector<double> &numbers) {
    const char *separator = "[";
    for (const double x : numbers) {
        out << separator << x;
        separator = ", ";
    }
    out << "]";
}

void run(int batches) {
    const Tree tree = read_tree(std::cin);
    Data data(tree.model);
    std::vector<Kernel> timed = kernels(tree.model, data, tree.states);
    const double checksum = time_batches(timed, batches, BATCH_NANOSECONDS);

    std::cout << std::setprecision(17) << "{\"pinocchio\": \"" << PINOCCHIO_VERSION << "\", \"compiler\": \""
              << __VERSION__ << "\", \"simd\": \"" << Eigen::SimdInstructionSetsInUse() << "\", \"checksum\": ";
    print_number(std::cout, checksum);
    std::cout << ",\n \"residual\": ";
    print_number(std::cout, residual(tree.model, data, tree.states));
    std::cout << ",\n \"differences\": {";
    const char *separator = "";
    for (const auto &[name, difference] : differences(tree.model, data, tree.states)) {
        std::cout << separator << '"' << name << "\": ";
        print_number(std::cout, difference);
        separator = ", ";
    }
    std::cout << "},\n \"times\": {";
    separator = "";
    for (const Kernel &kernel : timed) {
        std::cout << separator << '"' << kernel.name << "\": ";
        print_list(std::cout, kernel.times);
        separator = ",\n  ";
    }
    std::cout << "}}\n";
}

} // namespace

int main(int argc, char **argv) {
    try {
        const int batches = argc > 1 ? std::atoi(argv[1]) : 15;
        if (batches < 1) throw std::runtime_error("expected a number of batches of at least 1");
        run(batches);
    } catch (const std::exception &error) {
        std::cerr << "error: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
