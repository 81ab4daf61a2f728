#if Observability
import Foundation
import InwardFetching
import Testing

/// A request full of credentials, and the events that observers may report about it.
enum TelemetryFixture {
    /// The strings that must not appear in any telemetry.
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

    /// Returns a request to a server whose name contains terminal control sequences and invisible characters.
    static func hostileRequest() throws -> DataRequest {
        let address = "https://a%1B%5B2J%0A%E2%80%8B%C2%AD.example.org/%0A%1B"
        var request = DataRequest(url: try #require(URL(string: address)))
        request.method = try #require(DataRequest.Method("BREW"))
        return request
    }

    /// The server name of the hostile request with these characters escaped.
    static let visibleServer = #"a\u{1B}[2J\n\u{200B}\u{AD}.example.org"#

    /// A text from an upstream that contains terminal control sequences and invisible characters.
    static let hostileText = "one\r\n\u{1B}[2J\u{202E}\u{200B}\u{AD}\u{E0041}two"

    /// The upstream's text with these characters escaped.
    static let visibleText = #"one\r\n\u{1B}[2J\u{202E}\u{200B}\u{AD}\u{E0041}two"#

    static func error(_ reason: FetchError.Reason, about request: DataRequest) -> FetchError {
        let whole = request.url.absoluteString
        let fields = request.headerFields.map(\.value).joined(separator: ", ")
        return FetchError(reason, request: request, explanation: "was not answered: \(whole), \(fields)")
    }

    /// Reports every event except attempts to an observer.
    static func reportAllEvents(of request: DataRequest, to observer: some FetchObserver) {
        let error = error(.unreachable, about: request)
        observer.requestEnded(request, .failure(error), after: .seconds(2))
        observer.answeredFromCache(request)
        observer.joined(request)
        observer.retryScheduled(request, after: .milliseconds(250), because: .failure(error))
        observer.hedged(request)
        observer.rejected(request, because: TelemetryFixture.error(.rejected, about: request))
        observer.fellBack(request, because: error)
        observer.credentialsRefreshed(for: request)
        observer.circuitChanged("api", from: "closed", to: "open")
        let rejection = ResilienceError(.rejected, operation: "the look-up", explanation: "was not started")
        observer.operation("the look-up", .rejected(rejection))
    }
}
#endif
