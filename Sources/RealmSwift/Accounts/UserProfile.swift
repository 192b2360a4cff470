import Foundation

/// An identity of a user: who the user is for one way to log in.
public final class RLMUserIdentity: Sendable {
  /// The name of the way to log in: the raw value of a `Provider`.
  public let providerType: String
  /// The id of the user for this way to log in.
  public let identifier: String

  /// Makes an identity of a provider's name and an id.
  public init(userIdentityWithProviderType providerType: String, identifier: String) {
    (self.providerType, self.identifier) = (providerType, identifier)
  }
}

/// What the server told about a user at the last log-in. Which facts there are depends on the way to log in. A property is nil if
/// its fact is not known.
public final class UserProfile: Sendable {
  /// Everything that the server told, including facts that have no property here.
  public let metadata: Document

  init(_ metadata: Document) { self.metadata = metadata }

  private func text(_ key: String) -> String? { metadata[key]??.stringValue }

  /// The whole name.
  public var name: String? { text("name") }
  /// The e-mail address.
  public var email: String? { text("email") }
  /// The address of a picture.
  public var pictureURL: String? { text("picture_url") }
  /// The first name.
  public var firstName: String? { text("first_name") }
  /// The last name.
  public var lastName: String? { text("last_name") }
  /// The gender.
  public var gender: String? { text("gender") }
  /// The day of birth.
  public var birthday: String? { text("birthday") }
  /// The lower end of the user's age range, as a text.
  public var minAge: String? { text("min_age") }
  /// The upper end of the user's age range, as a text.
  public var maxAge: String? { text("max_age") }
}

/// The server's answer to a request for a profile.
package struct ProfileAnswer: Sendable {
  package let identities: [RLMUserIdentity]
  package let data: Document

  private struct Answer: Decodable {
    struct Identity: Decodable {
      let id: String
      let provider: String

      private enum CodingKeys: String, CodingKey {
        case id
        case provider = "provider_type"
      }
    }
    let identities: [Identity]
  }

  /// Reads the answer.
  ///
  /// - Throws: `AppError` if the answer is an error or is not a profile.
  package init(_ answer: ServerAnswer) throws {
    identities = try answer.content(as: Answer.self).identities.map {
      RLMUserIdentity(userIdentityWithProviderType: $0.provider, identifier: $0.id)
    }
    // The data is read on its own because its fields differ from user to user.
    let whole = try? ExtendedJSON.read(Data(answer.body.utf8))
    data = whole?.documentValue?["data"]??.documentValue ?? [:]
  }
}
