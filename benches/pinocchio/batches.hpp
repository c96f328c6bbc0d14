// Times of short batches of calls, the kernels taking turns, so that a change of the clock or a busy neighbour falls on
// all of them alike.
#pragma once

#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// CPU time of this thread in nanoseconds: what else runs on the machine is not in it.
inline double cpu_nanoseconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

struct Kernel {
    std::string name;
    // Makes so many calls and returns a number that depends on all of them.
    std::function<double(int)> calls;
    // Nanoseconds per call, one entry a batch.
    std::vector<double> times = {};
};

// A kernel that calls `call` on the inputs in turn; `call` returns a number of its result.
template <class Input, class Call>
Kernel over(std::string name, const std::vector<Input> &inputs, Call call) {
    auto calls = [&inputs, call](int count) mutable {
        double sum = 0.0;
        std::size_t next = 0;
        for (int k = 0; k < count; ++k) {
            sum += call(inputs[next]);
            next = next + 1 == inputs.size() ? 0 : next + 1;
        }
        return sum;
    };
    return {std::move(name), calls};
}

// Runs `batches` batches of every kernel, each of about `nanoseconds`. Returns the sum of all results: whoever prints
// it keeps the calls from being optimised away.
inline double time_batches(std::vector<Kernel> &kernels, int batches, double nanoseconds) {
    double sum = 0.0;
    std::vector<int> counts;
    for (Kernel &kernel : kernels) {
        int count = 1;
        for (;; count *= 2) {
            const double start = cpu_nanoseconds();
            sum += kernel.calls(count);
            if (cpu_nanoseconds() - start >= 0.5 * nanoseconds) break;
        }
        counts.push_back(count);
    }
    for (int batch = 0; batch < batches; ++batch) {
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            const double start = cpu_nanoseconds();
            sum += kernels[i].calls(counts[i]);
            kernels[i].times.push_back((cpu_nanoseconds() - start) / counts[i]);
        }
    }
    return sum;
}
