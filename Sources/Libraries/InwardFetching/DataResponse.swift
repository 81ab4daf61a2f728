public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a ``DataFetcher`` answers: a whole answer, whatever its status.
public struct DataResponse: Hashable, Sendable {
    /// How the source took the request.
    public var status: Status
    /// What the source tells about its answer.
    public var headerFields: HeaderFields
    /// The answer itself, whole.
    public var body: Data
    /// Where the answer came from, if that is not where it was asked for: redirects were followed.
    public var url: URL?
    /// From where this answer was given: by the source itself, or out of a memory on the way.
    public var origin: Origin
    /// Why this is not the answer that was asked for but one in its place; `nil` if it is the one.
    public var degradation: FetchError?
    /// How many attempts were made and why they ended. `nil` where retrying was never considered, and for a success that needed no
    /// new credentials.
    public var retries: RetryReport?

    /// Makes an answer; without arguments, one of success that says nothing.
    public init(status: Status = .ok, headerFields: HeaderFields = [], body: Data = Data(), url: URL? = nil) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.url = url
        origin = .upstream
    }
}

extension DataResponse: CustomStringConvertible {
    /// The status, and how many bytes the body has.
    public var description: String { "\(status), \(body.count) bytes" }
}
