#include "Run.h"

#include <cstdio>

namespace model {

std::string failure;
Counters counters;

void printCounters() {
  const Counters& c = counters;
  std::printf(
      "seeds %ld steps %ld log %ld uploads %ld duplicates %ld gaps %ld resets %ld refused %ld whole objects %ld "
      "leaves %ld deletes %ld effects %ld as written %ld clamped %ld trims %ld restarts %ld lost %ld "
      "below the horizon %ld\n",
      c.seeds, c.steps, c.entries, c.uploads, c.duplicates, c.gaps, c.resets, c.refused, c.wholeObjects, c.leaves,
      c.deletes, c.effects, c.asWritten, c.clampedStamps, c.trims, c.restarts, c.lostMessages, c.belowHorizon);
  std::printf(
      "checks: views %ld  predictions %ld (queues %ld)  integrations %ld replayed instructions %ld order steps %ld "
      "forced resets %ld kills %ld\n",
      c.comparedViews, c.predictions, c.queuePredictions, c.decisions, c.replayed, c.orderSteps, c.forcedResets,
      c.kills);
  std::printf(
      "registrations %ld (with pending %ld)  keys in use %ld + %ld edits on top  forged %ld  restores %ld "
      "(resets by tag %ld)  copies %ld (resets by number %ld)  lost answers %ld  invalid sets %ld  "
      "older sets named %ld  to flexible %ld  deletes not told %ld  undone effects %ld  cut transactions %ld\n",
      c.registrations, c.registrationsWithPending, c.keysInUse, c.editsOnTop, c.forged, c.restores, c.resetsByTag,
      c.copies, c.resetsByNumber, c.lostAnswers, c.invalidSets, c.olderSets, c.toFlexible, c.deletesNotTold, c.undone,
      c.cutTransactions);
}

}  // namespace model
