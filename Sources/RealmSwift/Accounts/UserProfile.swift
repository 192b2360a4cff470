import Foundation

/// Who a user is for one way to log in.
public final class RLMUserIdentity: Sendable {
  /// The name of the way to log in, as in `Provider`.
  public let providerType: String
  /// The id that the server gave for it.
  public let identifier: String

  /// An identity with its provider and its id.
  public init(userIdentityWithProviderType providerType: String, identifier: String) {
    (self.providerType, self.identifier) = (providerType, identifier)
  }
}

/// What a server has told of a user at the last log-in. Which facts there are depends on the way to log in; each is nil where it is not known.
public final class UserProfile: Sendable {
  /// All that was told, also what has no property here.
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
  /// The least age that the user may have.
  public var minAge: String? { text("min_age") }
  /// The greatest age that the user may have.
  public var maxAge: String? { text("max_age") }
}

/// What a server answers when it is asked for a profile.
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

  /// - Throws: `AppError` where it is none.
  package init(_ answer: ServerAnswer) throws {
    identities = try answer.content(as: Answer.self).identities.map {
      RLMUserIdentity(userIdentityWithProviderType: $0.provider, identifier: $0.id)
    }
    // Read apart: what the data has is different from user to user.
    let whole = try? ExtendedJSON.read(Data(answer.body.utf8))
    data = whole?.documentValue?["data"]??.documentValue ?? [:]
  }
}
