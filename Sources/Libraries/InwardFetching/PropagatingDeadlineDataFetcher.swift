import InwardCore

/// A data fetcher that sends the remaining time to the upstream, so that the upstream can abandon work that nobody waits for.
public struct PropagatingDeadlineDataFetcher: DecoratingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let name: HeaderField.Name
    private let format: DeadlineFormat

    init(_ base: any DataFetcher, name: HeaderField.Name, format: DeadlineFormat) {
        self.base = base
        self.name = name
        self.format = format
    }

    /// The description of this layer, with the name of the header field.
    public var layer: DataFetcherLayer { DataFetcherLayer(.deadlineNotice, "tells the time that is left in \(name)") }

    /// Returns the response to a request whose header field contains the task's remaining time, replacing any existing value.
    /// Without a deadline, the request is unchanged.
    ///
    /// - Throws: Errors of the wrapped fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard let deadline = Deadline.current else { return try await base.fetch(request) }
        var request = request
        request.headerFields[name] = format.text(deadline.remaining)
        return try await base.fetch(request)
    }
}

extension DataFetcher {
    /// Returns this fetcher with the remaining time in a header field of each request that has a deadline.
    ///
    /// Apply it inside retries, so that each attempt sends its own remaining time, and inside a cache, which uses the whole
    /// request as the key.
    ///
    /// - Parameters:
    ///   - name: The header field that the upstream reads.
    ///   - format: The format of the remaining time.
    /// - Returns: The fetcher that propagates deadlines.
    public func propagatingDeadline(
        in name: HeaderField.Name,
        as format: DeadlineFormat = .milliseconds
    ) -> PropagatingDeadlineDataFetcher {
        PropagatingDeadlineDataFetcher(self, name: name, format: format)
    }
}

/// The format of a remaining time. Future versions may add more.
public struct DeadlineFormat: Hashable, Sendable {
    private enum Code: Hashable {
        case milliseconds
        case seconds
    }

    /// The maximum, so that the number of milliseconds does not overflow.
    private static let longest = Duration.seconds(Int64.max / 1_000)

    private let code: Code

    /// Whole milliseconds, such as `1500`.
    public static let milliseconds = Self(code: .milliseconds)
    /// Seconds with up to three decimal places, such as `1.5`.
    public static let seconds = Self(code: .seconds)

    /// Returns a remaining time as text, rounded down to milliseconds. Negative times become zero.
    func text(_ remaining: Duration) -> String {
        let (seconds, attoseconds) = min(max(.zero, remaining), Self.longest).components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        switch code {
        case .milliseconds:
            return "\(seconds * 1_000 + milliseconds)"
        case .seconds:
            guard milliseconds > 0 else { return "\(seconds)" }
            var places = String(milliseconds + 1_000).dropFirst()
            while places.last == "0" { places.removeLast() }
            return "\(seconds).\(places)"
        }
    }
}
