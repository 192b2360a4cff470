#pragma once

namespace model {

// Does the order of arrival matter? Three clients write offline, and their changesets arrive in several interleavings.
void compareArrivals(long first, long count);

// What many changesets of two offline clients on one object cost.
void measureCost();

}  // namespace model
