import Foundation
import InwardFetching

/// Answers with what it was asked, so that an answer to another request shows, and looks at what it is sent.
struct EchoingDataFetcher: DataFetcher {
    /// The field that an answer says the path of its request in.
    static let path = HeaderField.Name("x-path") ?? .location
    /// The field that requests say in how much time there is.
    static let notice = HeaderField.Name("x-deadline") ?? .retryAfter
    /// The host that takes nobody without a token. The others are not to see one.
    static let guarded = "upstream.test"

    let issuer: TokenIssuer
    let findings: Findings

    var honorsDeadlines: Bool { true }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if request.headerFields[Self.notice] == nil { findings.add("A request did not tell its deadline.") }
        let path = request.url.path
        let fields = HeaderFields([HeaderField(Self.path, path), HeaderField(.cacheControl, "max-age=1")])
        let token = request.headerFields[.authorization]
        if request.url.host != Self.guarded {
            if token != nil { findings.add("A token was sent to another origin.") }
        } else if !issuer.accepts(token) {
            return DataResponse(status: .unauthorized, headerFields: fields)
        }
        let number = Int(request.url.lastPathComponent) ?? 0
        let size = number.isMultiple(of: 50) ? Pipelines.sizeLimit + 1 : number * 61 % Pipelines.sizeLimit
        return DataResponse(headerFields: fields, body: Data(repeating: UInt8(number % 256), count: size))
    }
}
