import InwardCore

/// A data fetcher that tells the upstream how much time there is, so that it can stop working on what nobody waits for.
public struct PropagatingDeadlineDataFetcher: DecoratingDataFetcher {
    /// What is wrapped.
    public var base: any DataFetcher
    private let name: HeaderField.Name
    private let format: DeadlineFormat

    init(_ base: any DataFetcher, name: HeaderField.Name, format: DeadlineFormat) {
        self.base = base
        self.name = name
        self.format = format
    }

    /// That the upstream is told.
    public var layer: DataFetcherLayer { DataFetcherLayer(.deadlineNotice, "tells the time that is left in \(name)") }

    /// The answer to a request that says how much time the task has left, in place of what it said in that field; to the
    /// request as it is, if the task has no deadline.
    ///
    /// - Throws: what the wrapped fetcher throws.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard let deadline = Deadline.current else { return try await base.fetch(request) }
        var request = request
        request.headerFields[name] = format.text(deadline.remaining)
        return try await base.fetch(request)
    }
}

extension DataFetcher {
    /// This fetcher with the time that is left in a header field of each request that has a deadline.
    ///
    /// Put it inside the retries, so that each attempt tells the time that is left then, and inside a cache, which finds an
    /// answer by the whole request.
    ///
    /// - Parameters:
    ///   - name: The field that the upstream reads.
    ///   - format: How the time is written.
    /// - Returns: the fetcher to hand requests to.
    public func propagatingDeadline(
        in name: HeaderField.Name,
        as format: DeadlineFormat = .milliseconds
    ) -> PropagatingDeadlineDataFetcher {
        PropagatingDeadlineDataFetcher(self, name: name, format: format)
    }
}

/// How the time that is left is written for an upstream. More may be added without breaking anybody.
public struct DeadlineFormat: Hashable, Sendable {
    private enum Code: Hashable {
        case milliseconds
        case seconds
    }

    /// More milliseconds than a number holds are as good as the most it does.
    private static let longest = Duration.seconds(Int64.max / 1_000)

    private let code: Code

    /// Whole milliseconds, such as `1500`.
    public static let milliseconds = Self(code: .milliseconds)
    /// Seconds with at most three decimal places, such as `1.5`.
    public static let seconds = Self(code: .seconds)

    /// A time that is left, rounded down to milliseconds and to nothing if it is over.
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
