#include "Rules.h"

namespace model {

const std::vector<RuleText> ruleTexts = {
    {Rule::otherMetaPage, "other-meta-page", "one", "a commit writes the meta page that names D"},
    {Rule::notInFlight, "page-in-flight", "threads", "a meta page is written while its sync is on its way"},
    {Rule::holdDurable, "hold-durable", "one", "pages of D are written"},
    {Rule::holdPinned, "hold-pinned", "one", "pages of pinned versions are written"},
    {Rule::freeFromBirth, "free-from-birth", "one", "a page born at b and freed at f is not held by b"},
    {Rule::verifyAll, "verify-since-durable", "one", "recovery verifies the newest commit's nodes only"},
    {Rule::recoverySync, "recovery-sync", "one", "recovery publishes without a sync"},
    {Rule::syncUnlessDurable, "sync-unless-durable", "in-turns",
     "who finds no mark opens without a sync what none has made durable"},
    {Rule::notInPlace, "not-in-place", "one", "recovery writes what it found over itself"},
    {Rule::overwriteRejected, "overwrite-rejected", "again", "recovery leaves a rejected meta page as it is"},
    {Rule::distrustCache, "distrust-cache", "one", "after a failed sync recovery believes the cache"},
    {Rule::rewriteUnsure, "rewrite-unsure", "one", "after a sync without outcome recovery believes the cache"},
    {Rule::keepDurablePage, "keep-durable-page", "in-turns",
     "a process that is alone forgets which of two pages with D is durable"},
    {Rule::newNumber, "new-number", "one", "the next number is one above the opened version's"},
    {Rule::keepSyncMark, "keep-sync-mark", "one", "a control block built anew forgets a sync without outcome"},
    {Rule::keepFailedMark, "keep-failed-mark", "one", "a control block built anew forgets a failed sync"},
    {Rule::durableInOneWord, "durable-in-one-word", "one", "D's page is noted before D"},

    {Rule::syncLargeNodes, "sync-large-nodes", "large",
     "a large commit is flagged, but its nodes are not synced first"},
    {Rule::flagOnlyItself, "flag-only-itself", "large",
     "a page is flagged that names a later version than the large one"},
    {Rule::syncFlaggedPage, "sync-flagged-page", "large", "the flagged page of a relaxed large commit is not synced"},
    {Rule::oneSyncAtATime, "one-sync-at-a-time", "large", "a large commit syncs its nodes beside the leader's sync"},
    {Rule::appendRewritten, "append-rewritten", "rewriting",
     "what is written again takes free pages, not the end of the file"},
    {Rule::markThroughRewriting, "mark-through-rewriting", "rewriting",
     "a large rewriting clears the mark after its first sync"},

    {Rule::failAllPending, "fail-all-pending", "threads", "a failed sync fails only the versions it covered"},
    {Rule::holdPending, "hold-pending", "threads", "pages of pending versions but the newest are written"},

    {Rule::everyonesPins, "everyones-pins", "processes", "a writer holds the pins of its own process only"},
    {Rule::expireEverywhere, "expire-everywhere", "processes",
     "a failed sync expires snapshots in its own process only"},
    {Rule::expireBelowPublished, "expire-below-published", "processes",
     "a recovery that goes back leaves newer snapshots"},
    {Rule::inWriteMark, "in-write-mark", "processes", "a killed writer's successor does not recover"},
    {Rule::marksGoLast, "marks-go-last", "heirs", "recovery clears the marks before it notes what it opened"},

    {Rule::catchUp, "catch-up", "processes", "a writer keeps its map though others committed"},
    {Rule::ringIsWhole, "ring-is-whole", "ring", "a writer behind the ring takes what the ring still has"},
    {Rule::epochOfMap, "epoch-of-map", "processes", "a map of another epoch is used"},
    {Rule::walkPins, "walk-pins", "maps", "a rebuilt map leaves out pins"},
    {Rule::walkDurable, "walk-durable", "maps", "a rebuilt map leaves out D"},
    {Rule::walkPending, "walk-pending", "maps", "a rebuilt map leaves out pending versions"},
    {Rule::holdUntilFreed, "hold-until-freed", "maps",
     "a walk says of an older version's pages that this very version freed them"},
    {Rule::appendWhileWalking, "append-while-walking", "maps", "a writer takes pages from a map that is not complete"},

    {Rule::holdNamed, "hold-named", "names", "pages of named versions are written"},
    {Rule::holdDropped, "hold-dropped", "names", "a name holds nothing once a pending version has dropped it"},
    {Rule::nameDurable, "name-durable", "names", "a version is named that is not durable"},
    {Rule::walkNamed, "walk-named", "names", "a rebuilt map leaves out named versions"},
};

}  // namespace model
