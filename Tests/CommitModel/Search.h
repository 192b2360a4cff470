#pragma once
#include <string>
#include <vector>

#include "Model.h"

namespace model {

struct Outcome {
  bool isViolated = false;
  bool isCut = false;  // stopped at the limit of states
  size_t states = 0;
  std::string violation;
  std::vector<std::string> trace;
};

// All states that can follow the first one, breadth first: the trace of a violation is a shortest one.
Outcome search(const Bounds& bounds, Rule removed, size_t limit);

}  // namespace model
