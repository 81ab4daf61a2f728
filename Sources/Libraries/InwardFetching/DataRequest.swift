#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is asked of a ``DataFetcher``, in the terms of HTTP (RFC 9110) whether or not it travels by HTTP.
///
/// Two requests are equal when a source could not tell them apart. Descriptions and reflections of a request never show
/// a credential.
public struct DataRequest: Hashable, Sendable {
    /// What is to be done with what the address names.
    public var method: Method
    /// What is asked for.
    public var url: URL
    /// What else the source is told.
    public var headerFields: HeaderFields
    /// What is sent along.
    public var body: Data?
    /// Which try of this request it is, counted from 1. It is not sent, and makes no request another one.
    public var attempt = 1
    /// Whether no data fetcher may send it again that has sent it, because its maker does that and has to know of each attempt. Set
    /// by an `Outbox`. Renewing credentials that were not taken (401) is no exception to it: nothing was done before. It is not
    /// sent, and makes no request another one.
    public var isSentOnce = false

    /// Makes a request; with an address alone, for what is there.
    public init(method: Method = .get, url: URL, headerFields: HeaderFields = [], body: Data? = nil) {
        self.method = method
        self.url = url
        self.headerFields = headerFields
        self.body = body
    }

    /// Whether a source could not tell the requests apart.
    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.url == right.url && left.headerFields == right.headerFields
            && left.body == right.body
    }

    /// Feeds what makes requests equal into a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(url)
        hasher.combine(headerFields)
        hasher.combine(body)
    }
}

extension DataRequest: CustomStringConvertible, CustomReflectable {
    /// The method and the address, without user name, password, fragment and the values of the query.
    public var description: String { "\(method) \(url.withoutSecrets)" }

    /// A mirror that shows no more than the description does.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
