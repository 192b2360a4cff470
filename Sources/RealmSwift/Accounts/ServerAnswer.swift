import Foundation
import RealmInterchange
import RealmSyncClient

/// The answer of the server to a request, or the reason why there is none.
package struct ServerAnswer: Sendable {
  /// The method and the path of the request, for messages.
  let request: String
  /// The HTTP status; 0 if there was no answer.
  let status: Int
  let headers: [String: String]
  let body: String
  let problem: NetworkProblem?

  package init(_ response: RLMResponse, to request: String) {
    self.request = request
    headers = response.headers
    body = response.body
    guard response.customStatusCode == 0, response.problem == nil else {
      status = 0
      let text = response.body.isEmpty ? "The transport has failed." : ServerText.readable(response.body)
      problem = response.problem ?? .unreachable(text)
      return
    }
    status = response.httpStatusCode
    problem = nil
  }

  var isSuccess: Bool { problem == nil && (200..<300).contains(status) }
  var isRedirection: Bool { problem == nil && [301, 302, 303, 307, 308].contains(status) }

  /// The value of a header. The case of letters in its name is ignored.
  func header(_ name: String) -> String? {
    headers.first { $0.key.lowercased() == name.lowercased() }?.value
  }

  /// The body of the answer.
  ///
  /// - Throws: `AppError` if the request did not succeed.
  func content() throws -> Data {
    guard isSuccess else { throw AppError(self) }
    return Data(body.utf8)
  }

  /// The body of the answer, decoded from JSON. The keys are named as in `Answer`.
  ///
  /// - Throws: `AppError` if the request did not succeed, or the body can't be decoded.
  func content<Answer: Decodable>(as type: Answer.Type) throws -> Answer {
    let content = try self.content()
    guard let answer = try? JSONDecoder.decode(type, fromOthers: content) else { throw notUnderstood }
    return answer
  }

  /// The error for an answer that a sync server does not give.
  var notUnderstood: AppError {
    AppError(
      .httpRequestFailed,
      "The answer to \(request) is not one of a sync server. Look whether AppConfiguration.baseURL is its address.",
      status: status)
  }

  /// Whether the server refuses the access token, and not something else.
  var refusesToken: Bool {
    guard problem == nil, status == 401 else { return false }
    return AppError(self).name.map { $0 == "InvalidSession" } ?? true
  }
}

extension AppError {
  /// The JSON object with which a server describes an error.
  private struct Reply: Decodable {
    let error: String?
    let code: String?
    let link: String?

    private enum CodingKeys: String, CodingKey {
      case error, link
      case code = "error_code"
    }
  }

  /// The error of a request that did not succeed.
  package init(_ answer: ServerAnswer) {
    if let problem = answer.problem {
      self.init(.httpRequestFailed, problem.description, problem: problem)
      return
    }
    let reply = try? JSONDecoder.decode(Reply.self, fromOthers: Data(answer.body.utf8))
    guard let reply, reply.error != nil || reply.code != nil else {
      let hint =
        answer.isRedirection
        ? "Set AppConfiguration.baseURL to where the server is: redirections are not followed with a token."
        : "Look whether AppConfiguration.baseURL is the address of a sync server, and what stands before that."
      self.init(
        .httpRequestFailed, "The answer to \(answer.request) has the status \(answer.status). \(hint)",
        status: answer.status)
      return
    }
    let text = reply.error.flatMap { $0.isEmpty ? nil : ServerText.readable($0) }
    let name = reply.code.map { ServerText.readable($0, most: 100) }
    self.init(
      name.flatMap { Code(name: $0) } ?? .unknown,
      text ?? "The server refuses \(answer.request) by the code \(name ?? "").", name: name,
      status: answer.status, link: reply.link.flatMap { $0.isEmpty ? nil : ServerText.readable($0) })
  }

  // MARK: - What is found here

  static func removed(_ id: String) -> AppError {
    AppError(.unknown, "The user \(id) is removed from the app. Log in to get a user.")
  }

  static func loggedOut(_ id: String) -> AppError {
    AppError(.unknown, "The user \(id) is not logged in. Log in first.")
  }
}

extension AppError.Code {
  /// The code for a name that servers use; nil for a name that has no code.
  init?(name: String) {
    switch name {
    // Servers have no code of their own for a value that is not allowed.
    case "InvalidParameter", "ArgumentsNotAllowed": self = .badRequest
    case "InvalidSession": self = .invalidSession
    case "BadRequest": self = .badRequest
    case "UserNotFound": self = .userNotFound
    case "UserAppDomainMismatch": self = .userAppDomainMismatch
    case "DomainNotAllowed": self = .domainNotAllowed
    case "ReadSizeLimitExceeded": self = .readSizeLimitExceeded
    case "MissingParameter": self = .missingParameter
    case "FunctionExecutionError": self = .functionExecutionError
    case "InternalServerError": self = .internalServerError
    case "AuthProviderNotFound": self = .authProviderNotFound
    case "ValueNotFound": self = .valueNotFound
    case "ValueAlreadyExists": self = .valueAlreadyExists
    case "ValueDuplicateName": self = .valueDuplicateName
    case "FunctionNotFound": self = .functionNotFound
    case "FunctionSyntaxError": self = .functionSyntaxError
    case "FunctionInvalid": self = .functionInvalid
    case "APIKeyAlreadyExists": self = .apiKeyAlreadyExists
    case "ExecutionTimeLimitExceeded": self = .executionTimeLimitExceeded
    case "NotCallable": self = .notCallable
    case "UserAlreadyConfirmed": self = .userAlreadyConfirmed
    case "UserDisabled": self = .userDisabled
    case "AuthError": self = .authError
    case "AccountNameInUse": self = .accountNameInUse
    case "InvalidPassword": self = .invalidPassword
    case "MaintenanceInProgress": self = .maintenanceInProgress
    case "MongoDBError": self = .mongoDBError
    default: return nil
    }
  }
}
