#pragma once
#include "World.h"

namespace model {

// Connects all clients and lets all messages arrive until nothing is left to send.
void quiesce(World& world);

// What must hold then.
void check(World& world);

}  // namespace model
