public import InwardCore

/// A data fetcher that fails when the complete response does not arrive in time. The limit includes connecting, waiting and
/// receiving the body.
///
/// ```swift
/// let users = client.timingOut(after: .seconds(2))
/// do {
///     print(try await users.fetch(request).status)
/// } catch where error.reason == .timedOut {
///     print("\(error).")  // GET https://api.example.com/orders/7 was not answered within 2.0 seconds.
/// }
/// ```
///
/// The limit becomes the task's deadline, unless the task already has an earlier one, so that inner layers know the remaining
/// time.
public struct TimingOutDataFetcher: DecoratingDataFetcher {
    /// The wrapped fetcher.
    public var base: any DataFetcher
    private let limit: Duration
    private let timer: TimerService

    init(_ base: any DataFetcher, limit: Duration, timer: TimerService) {
        self.base = base
        self.limit = limit
        self.timer = timer
    }

    /// The description of this layer, with the limit.
    public var layer: DataFetcherLayer { DataFetcherLayer(.timeout, "times out after \(limit)") }

    /// Returns the wrapped fetcher's response if it arrives in time.
    ///
    /// - Throws: A ``FetchError`` with ``FetchError/Reason/timedOut`` if it does not; otherwise, errors of the wrapped
    ///   fetcher.
    public func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        guard limit > .zero else { throw timedOut(request, wasSent: false) }
        let deadline = Deadline(in: limit, on: timer)
        let result: Result<DataResponse, FetchError>
        if base.honorsDeadlines {
            result = await deadline.carried { () async throws(FetchError) in try await base.fetch(request) }
        } else {
            let ending = await deadline.bound { [base] () async throws(FetchError) in try await base.fetch(request) }
            guard let ending else { throw timedOut(request) }
            result = ending
        }
        // A fetcher inside may notice the deadline first.
        do {
            return try result.get()
        } catch  where error.reason == .timedOut && deadline.hasPassed {
            let late = timedOut(request, wasSent: error.wasSent)
            throw error.retries.map { late.reporting($0) } ?? late
        }
    }

    private func timedOut(_ request: DataRequest, wasSent: Bool = true) -> FetchError {
        FetchError(
            .timedOut,
            request: request,
            explanation: "was not answered within \(limit)",
            wasSent: wasSent
        )
    }
}

extension DataFetcher {
    /// Returns this fetcher with a time limit for each request, until its response is complete.
    ///
    /// The limit covers everything inside, such as retries. Apply one timeout outside the retries to limit all attempts
    /// together, and one inside to limit each attempt:
    ///
    /// ```swift
    /// let users = client.timingOut(after: .seconds(2)).retrying(.standard).timingOut(after: .seconds(10))
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum duration. With zero or less, requests fail without being sent.
    ///   - timer: The source of time.
    /// - Returns: The fetcher with the timeout.
    public func timingOut(after limit: Duration, timer: TimerService = .continuous) -> TimingOutDataFetcher {
        TimingOutDataFetcher(self, limit: limit, timer: timer)
    }
}

/// A data fetcher that sends the remaining time to the upstream, which can then abandon work that nobody waits for.
///
/// Create it with ``DataFetcher/propagatingDeadline(in:as:)``.
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
    public var layer: DataFetcherLayer { DataFetcherLayer(.deadlineNotice, "sends the remaining time in \(name)") }

    /// Adds the remaining time of the task to the request, replacing any value of the header field, and returns the response.
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
    /// Apply it inside retries, so that each attempt sends its own remaining time, and inside coalescing and caches, which
    /// compare whole requests.
    ///
    /// ```swift
    /// let name = HeaderField.Name("X-Time-Left")!
    /// let users = client.propagatingDeadline(in: name).timingOut(after: .seconds(2))
    /// ```
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
///
/// ```swift
/// let name = HeaderField.Name("X-Time-Left")!
/// let users = client.propagatingDeadline(in: name, as: .seconds).timingOut(after: .seconds(2))  // X-Time-Left: 1.999
/// ```
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
