#if Observability
import Foundation
import InterfaceAdapters
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
    }
}
#endif
