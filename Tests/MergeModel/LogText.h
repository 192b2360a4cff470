#pragma once
#include <string>

#include "World.h"

namespace model {

// The log as text, one item a line; `main.cpp` describes it.
std::string textOf(const Instruction& in);
std::string textOf(const LogEntry& entry, int version);
std::string textOfResult(const HistoryEntry& result, int version);

// The log with the results, the clients and the server, for who looks for the cause of a violation.
void printWorld(const World& world);

}  // namespace model
