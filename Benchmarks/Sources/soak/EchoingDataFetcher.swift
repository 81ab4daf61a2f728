import Foundation
import InwardFetching

/// Answers with the path of the request, so that mixed-up responses are detected, and checks the requests that it receives.
struct EchoingDataFetcher: DataFetcher {
    /// The response header field that contains the path of the request.
    static let path = HeaderField.Name("x-path") ?? .location
    /// The request header field that contains the remaining time.
    static let notice = HeaderField.Name("x-deadline") ?? .retryAfter
    /// The host that requires a token. Other hosts must not receive one.
    static let guarded = "upstream.test"

    let issuer: TokenIssuer
    let findings: Findings

    var honorsDeadlines: Bool { true }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if request.headerFields[Self.notice] == nil { findings.add("A request did not contain its deadline.") }
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
