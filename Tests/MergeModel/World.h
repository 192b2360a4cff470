#pragma once
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "Client.h"
#include "Node.h"
#include "Run.h"

namespace model {

// A connection between a client and a node: messages on their way, and what the node knows of the client.
struct Session {
  bool isOpen = false;
  int node = 0;
  std::deque<Upload> up;
  std::deque<Download> down;
  int sentSequence = 0, sentSet = -1;  // by the client
  int told = 0;                        // the version up to which the node has sent steps
  int querySet = everything, read = everything, setNumber = -1;  // of the last step
  int wantedSet = everything, wantedNumber = -1;
  bool mustReset = false;
};

// One log, two nodes of the server that replay it, some clients, and what goes wrong between them.
class World {
 public:
  World(int clientCount, std::uint64_t seed);

  Random random;
  int time = 10;
  int objects = 3;       // keys that operations use
  bool isLossy = false;  // answers get lost
  bool cutsTransactions = false;
  std::vector<LogEntryRef> log;
  std::vector<Node> nodes;
  std::vector<Client> clients;
  std::vector<Session> sessions;
  std::vector<std::pair<int, Upload>> stragglers;  // uploads of broken sessions that can still arrive; by node
  std::set<int> late;                              // clients that do not connect yet

  // The log.
  int head() const { return int(log.size()); }
  void append(LogEntry entry);
  void appendTrim(int horizon);
  void applyNext(int node);
  void catchUp(int node, int version);
  Node replayed(int node, int version) const;

  // Sessions (Sessions.cpp).
  void connect(int client, int node);
  void disconnect(int client, bool leavesStragglers);
  bool clientSends(int client);
  bool serverReceives(int client);
  bool serverSends(int client, bool inParts);
  bool clientReceives(int client);
  void accept(int node, Upload upload, Session* session);
  void drainUploads(int client);
  void drainDownloads(int client);

  // What goes wrong (Faults.cpp).
  void restore(int version);
  void copyFile(int from, int to);
  void replaceFile(int client, int scope);
  void forge(int client);

  // A new identity for a file, and its pending changes on top (Recovery.cpp).
  void reset(int client, bool isDoubtful = false);

  // Writing (Transaction.cpp).
  int newUid(int client);
  int newValue() { return nextValue++; }
  int newElementId(Client& client) { return client.ownIndex * idsOfReplica + ++client.ids; }
  Stamp newStamp(Client& client);

  // What only the checks read.
  std::map<int, int> writerOf;        // uid of a changeset -> client
  std::set<int> discarded;            // changesets of files that were thrown away
  std::set<int> lost, copied;         // changesets that a restored server lost; that stood in a copied file

 private:
  struct SessionNumbers {
    int confirmed = 0, offered = 0;
  };
  struct NumberedSet {
    int number = -1, mask = 0;
  };
  // What a client showed after a changeset of its queue, when it held all that the server held.
  struct QueuePrediction {
    int version, replica;
    std::map<int, std::string> shown;
  };
  int nextReplica = 1, nextUid = 1, nextValue = 1, nextStep = 0;
  int lastSessionNumber = 0;
  bool wasRestored = false;
  std::map<int, SessionNumbers> sessionNumbers;        // by replica
  std::map<std::pair<int, int>, int> receivedSets;     // by replica and number: the mask that counts
  std::map<int, NumberedSet> lastValidSet;             // by replica
  std::map<int, std::set<int>> validMasks;             // by replica
  std::map<int, QueuePrediction> queuePredictions;     // by uid

  int registerReplica(const Client& client, int predecessor);
  void offerFirstNumber(Client& client);
  bool registerFile(int client, int node);
  bool resume(int client, int node);
  bool isSameFile(const Client& client, const Node& node) const;
  void takeSet(int client, const Upload& upload);

  // Download.cpp
  struct Change {
    int version;
    const ObjectChange* change;
  };
  struct Filters {
    int oldSet, oldRead, newSet, newRead;
    bool matchedBefore(int filter) const { return oldSet & oldRead & 1 << filter; }
    bool matchesNow(int filter) const { return newSet & newRead & 1 << filter; }
    bool differ() const { return oldSet != newSet || oldRead != newRead; }
  };
  Download makeStep(const Node& node, const Client& client, const Session& session);
  bool makeItem(const Node& node, const Client& client, const Filters& filters, int from,
                const std::vector<Change>& changes, Item& item);
  bool isDeleteTold(const Node& node, const Client& client, const Filters& filters, int from, bool wasInView,
                    const std::vector<Change>& changes);
  void checkDelete(const Node& node, const Client& client, const Filters& filters, int from, const Item& item);

  // Predictions.cpp
  void applyChecked(Node& node, const LogEntry& entry);
  bool wasNothingConcurrent(const Node& node, const LogEntry& entry) const;
  const Client* knowingWriter(const Node& node, const LogEntry& entry) const;
  void predictQueue(const Node& node, const Client& client);
  std::map<int, Slot> predictFirst(const Node& node, const Client& client) const;
  bool isQueueUndisturbed(const Node& node, const LogEntry& entry) const;

  // Recovery.cpp
  std::deque<Pending> notIntegrated(const Client& client, const Node& node) const;
  void takeState(Client& client, const Node& node);
  void recover(int client, const std::deque<Pending>& changesets, const std::map<int, Slot>& oldBase, bool isDoubtful);
};

}  // namespace model
