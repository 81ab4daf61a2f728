#if Observability
import Foundation
import InwardFetching
import Testing

/// A request that is full of credentials, and whatever can be told of it.
enum Telling {
    /// What no record may say.
    static let secrets = ["userS3cret", "passS3cret", "queryS3cret", "fragmentS3cret", "tokenS3cret", "fieldS3cret"]

    static func request(attempt: Int = 1) throws -> DataRequest {
        let address = "https://userS3cret:passS3cret@api.example.org/users?key=queryS3cret#fragmentS3cret"
        var request = DataRequest(url: try #require(URL(string: address)))
        request.headerFields = [
            .bearer("tokenS3cret"), HeaderField(.accept, "fieldS3cret", isSensitive: true),
        ]
        request.attempt = attempt
        return request
    }

    /// A request to a server whose name acts on a terminal and has characters in it that nobody sees.
    static func hostileRequest() throws -> DataRequest {
        let address = "https://a%1B%5B2J%0A%E2%80%8B%C2%AD.example.org/%0A%1B"
        var request = DataRequest(url: try #require(URL(string: address)))
        request.method = try #require(DataRequest.Method("BREW"))
        return request
    }

    /// The name of that server as it may be told.
    static let visibleServer = #"a\u{1B}[2J\n\u{200B}\u{AD}.example.org"#

    /// A text of an upstream that acts on a terminal and has characters in it that nobody sees.
    static let hostileText = "one\r\n\u{1B}[2J\u{202E}\u{200B}\u{AD}\u{E0041}two"

    /// That text as it may be told.
    static let visibleText = #"one\r\n\u{1B}[2J\u{202E}\u{200B}\u{AD}\u{E0041}two"#

    static func error(_ reason: FetchError.Reason, about request: DataRequest) -> FetchError {
        let whole = request.url.absoluteString
        let fields = request.headerFields.map(\.value).joined(separator: ", ")
        return FetchError(reason, request: request, explanation: "was not answered: \(whole), \(fields)")
    }

    /// Tells an observer every event that there is, but for attempts.
    static func everything(of request: DataRequest, to observer: some FetchObserver) {
        let error = error(.unreachable, about: request)
        observer.requestEnded(request, .failure(error), after: .seconds(2))
        observer.answeredFromCache(request)
        observer.joined(request)
        observer.retryScheduled(request, after: .milliseconds(250), because: .failure(error))
        observer.hedged(request)
        observer.rejected(request, because: Telling.error(.rejected, about: request))
        observer.fellBack(request, because: error)
        observer.credentialsRefreshed(for: request)
        observer.circuitChanged("api", from: "closed", to: "open")
        let rejection = ResilienceError(.rejected, operation: "the look-up", explanation: "was not started")
        observer.operation("the look-up", .rejected(rejection))
    }
}
#endif
