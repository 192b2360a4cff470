import Accounts
import Front
import Logging

/// The response to a request that can't be carried out, in the form that RealmSwift's clients read.
struct ErrorResponse: Encodable {
  let error: String
  let code: String
  let link = ""

  private enum CodingKeys: String, CodingKey {
    case error, link
    case code = "error_code"
  }

  static func make(_ error: any Error, _ logger: Logger) -> HTTPResponse {
    guard let error = error as? AccountError else {
      logger.error("a request can't be answered", metadata: ["error": "\(error)"])
      return response("InternalServerError", "The server can't do this now. Try again later.", status: 500)
    }
    return response(error.code.rawValue, error.message, status: error.httpStatus)
  }

  static func response(_ code: String, _ text: String, status: Int) -> HTTPResponse {
    .json(ErrorResponse(error: text, code: code), status: status)
  }

  static let notFound = response("NotFound", "There is nothing at this address.", status: 404)

  static func notAllowed(_ methods: String) -> HTTPResponse {
    var response = response("BadRequest", "This address knows \(methods).", status: 405)
    response.headers = [("Allow", methods)]
    return response
  }
}
