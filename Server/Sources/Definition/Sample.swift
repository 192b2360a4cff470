import Foundation

extension AppDefinition {
  /// A definition with comments, from which people can make their own. It reads without problems.
  public static let sample = """
    # An app of the server. Times have a unit (minutes, hours or days), sizes too (KiB, MiB or GiB).

    # The name of the app: 1 to 64 of a-z, A-Z, 0-9, - and _. No other app of the server has it.
    id: tasks

    # While this is true, every user may read and write everything, and clients may add classes.
    # Remove `rights` then.
    development: false

    # The property that tells the partition of an object. Leave it out if objects have no partitions.
    # partition: realm_id

    # The properties that queries and rights may use, by class. Add new ones behind the others.
    fields:
      Task: [owner, team, done]
      Team: [name]

    # What users may do, by class: true, false, or a predicate. What is left out is refused.
    # Predicates know $user.id, $user.roles, $user.custom_data with a name behind it, and $partition.
    rights:
      Task:
        read: owner == $user.id OR (team != nil AND team IN $user.custom_data.teams)
        write: owner == $user.id
        # `insert` and `delete` are the same as `write` unless they are given.
        delete: owner == $user.id AND done == true
      Team:
        read: true
        # A predicate that begins with a quote stands in quotes as a whole.
        write: "'admin' IN $user.roles"

    # The ways to sign in: anonymous, email-password and api-key.
    providers: [email-password, api-key]

    email:
      # While this is true, addresses are taken as confirmed, and no mail is needed for it.
      auto-confirm: true
      # Mails go to a program, or to an address. Name one of them:
      # command: [/usr/local/bin/send-mail]
      # address: https://example.org/hooks/mail

    # A client that was away for longer starts anew. 0 says that none is forgotten.
    maximum-offline-time: 30 days

    limits:
      replicas-per-user: 1000
      data: 10 GiB
      # The oldest history above this size goes although files need it: these start anew. There is no limit unless it is given.
      # history: 2 GiB
      connections: 10000
      connections-per-user: 100

    """

  /// The sample with another id.
  public static func sample(id: String) -> String {
    sample.replacingOccurrences(of: "id: tasks", with: "id: \(id)")
  }

  /// A definition for development: every user may do everything, and needs no password.
  public static func development(id: String) -> String {
    """
    # An app in development: every user may read and write everything.
    id: \(id)
    development: true
    providers: [anonymous, email-password, api-key]
    email:
      auto-confirm: true

    """
  }
}
