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
