import Foundation
import RealmSyncClient
import Testing

@testable import RealmSwift

/// The errors that an app makes of the answers of servers.
@Suite struct AppErrorTests {
  private static func answer(_ status: Int, _ body: String) -> ServerAnswer {
    let response = RLMResponse()
    (response.httpStatusCode, response.body) = (status, body)
    return ServerAnswer(response, to: "POST /auth/session")
  }

  private static func error(_ status: Int, _ body: String) -> AppError { AppError(answer(status, body)) }

  private static let names: [(String, AppError.Code)] = [
    ("InvalidSession", .invalidSession), ("BadRequest", .badRequest), ("UserNotFound", .userNotFound),
    ("UserAppDomainMismatch", .userAppDomainMismatch), ("DomainNotAllowed", .domainNotAllowed),
    ("ReadSizeLimitExceeded", .readSizeLimitExceeded), ("InvalidParameter", .badRequest),
    ("ArgumentsNotAllowed", .badRequest), ("MissingParameter", .missingParameter),
    ("FunctionExecutionError", .functionExecutionError), ("InternalServerError", .internalServerError),
    ("AuthProviderNotFound", .authProviderNotFound), ("ValueNotFound", .valueNotFound),
    ("ValueAlreadyExists", .valueAlreadyExists), ("ValueDuplicateName", .valueDuplicateName),
    ("FunctionNotFound", .functionNotFound), ("FunctionSyntaxError", .functionSyntaxError),
    ("FunctionInvalid", .functionInvalid), ("APIKeyAlreadyExists", .apiKeyAlreadyExists),
    ("ExecutionTimeLimitExceeded", .executionTimeLimitExceeded), ("NotCallable", .notCallable),
    ("UserAlreadyConfirmed", .userAlreadyConfirmed), ("UserDisabled", .userDisabled),
    ("AuthError", .authError), ("AccountNameInUse", .accountNameInUse), ("InvalidPassword", .invalidPassword),
    ("MaintenanceInProgress", .maintenanceInProgress), ("MongoDBError", .mongoDBError),
    ("TooManyRequests", .unknown), ("", .unknown),
  ]

  @Test func `each error name of a server has its code`() {
    for (name, code) in Self.names {
      let error = Self.error(
        418, #"{"error": "A text.", "error_code": "\#(name)", "link": "https://logs.test/1"}"#)
      #expect(error.code == code && error.localizedDescription == "A text.", "\(name)")
      #expect(error.httpStatusCode == 418 && error.userInfo["HTTP Status Code"] as? Int == 418)
      #expect(error.userInfo["Error Name"] as? String == name)
      #expect(error.userInfo["Server Log URL"] as? String == "https://logs.test/1")
    }
  }

  @Test func `an answer that is only a text is an unknown error`() {
    #expect(Self.error(400, #"{"error": "A text."}"#).code == .unknown)
    let error = Self.error(400, #"{"error_code": "AuthError", "link": ""}"#)
    #expect(error.code == .authError && error.userInfo["Server Log URL"] == nil)
    #expect(error.localizedDescription.contains("POST /auth/session"))
  }

  @Test func `the text of a server is shown on one line and with a limited length`() {
    let long = String(repeating: #"no\n"#, count: 10_000)
    let error = Self.error(400, #"{"error": "\#(long)", "error_code": "\#(long)", "link": "\#(long)"}"#)
    #expect(error.code == .unknown)
    let link = error.userInfo["Server Log URL"] as? String
    let texts = [error.localizedDescription, error.name ?? "", link ?? ""]
    for (text, most) in zip(texts, [1000, 100, 1000]) {
      #expect(text.unicodeScalars.count == most && text.hasPrefix("no no ") && !text.contains("\n"))
    }
  }

  @Test(arguments: ["", "<html>", "{}", "[]", #""text""#, #"{"error": 5}"#])
  func `an answer that does not come from a server of this kind has only its status`(body: String) {
    for status in [300, 404, 502] {
      let error = Self.error(status, body)
      #expect(error.code == .httpRequestFailed && error.httpStatusCode == status)
      #expect(error.localizedDescription.contains("status \(status)"))
    }
  }

  @Test func `a request without an answer tells the reason`() {
    let response = RLMResponse()
    (response.customStatusCode, response.body) = (5, "There is no network.")
    let error = AppError(ServerAnswer(response, to: "GET /auth/profile"))
    #expect(error.code == .httpRequestFailed && error.httpStatusCode == nil)
    #expect(error.localizedDescription == "There is no network.")
    #expect(error.problem == .unreachable("There is no network."))
  }

  @Test func `an AppError is an NSError of its domain, and the NSError is an AppError again`() throws {
    let error = Self.error(401, #"{"error": "A text.", "error_code": "InvalidPassword"}"#)
    let bridged = error as NSError
    #expect(bridged.domain == "io.realm.app" && bridged.code == 26)
    #expect(
      bridged.localizedDescription == "A text."
        && bridged.userInfo["Error Name"] as? String == "InvalidPassword")
    let made: any Error = bridged
    let back = try #require(made as? AppError)
    #expect(back.code == .invalidPassword && back == error)
    do {
      throw error
    } catch AppError.invalidPassword {
    } catch {
      Issue.record("it was not caught")
    }
    #expect(AppError(.userDisabled, userInfo: ["a": 1]).userInfo["a"] as? Int == 1)
    #expect(AppError.unknown.rawValue == -1 && AppError.mongoDBError.rawValue == 28)
  }

  @Test func `an answer in another form is not understood`() throws {
    struct Form: Decodable { let name: String }
    #expect(throws: AppError.self) { try Self.answer(200, "{}").content(as: Form.self) }
    #expect(try Self.answer(200, #"{"name": "a", "more": 1}"#).content(as: Form.self).name == "a")
    #expect(throws: AppError.self) { try Self.answer(500, #"{"name": "a"}"#).content(as: Form.self) }
    let response = RLMResponse()
    response.headers = ["LOCATION": "there"]
    #expect(ServerAnswer(response, to: "").header("Location") == "there")
  }
}
