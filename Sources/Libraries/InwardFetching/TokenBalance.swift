/// A balance of tokens that pay for additional attempts, to which each request adds a share of a token: a value without a
/// clock.
///
/// It counts millionths of a token, which avoids rounding errors.
struct TokenBalance: Sendable {
    private static let token = 1_000_000

    private let share: Int
    private let limit: Int
    private var millionths: Int

    /// Creates a balance.
    ///
    /// - Parameters:
    ///   - share: The share of a token that each request adds, clamped to the range from 0 to 1.
    ///   - limit: The maximum number of tokens, from 0 to a million.
    ///   - count: The number of tokens at first, at most the limit.
    init(share: Double, limit: Int, count: Int = 0) {
        self.share = share > 0 ? Int(min(share, 1) * Double(Self.token)) : 0
        self.limit = limit * Self.token
        millionths = count * Self.token
    }

    /// Returns whether there are fewer tokens than a number.
    func isBelow(_ count: Int) -> Bool { millionths < count * Self.token }

    /// Adds the shares of a number of requests, up to the limit.
    mutating func deposit(requests: Int = 1) {
        let (credit, isTooMuch) = requests.multipliedReportingOverflow(by: share)
        millionths = isTooMuch ? limit : min(limit, millionths + min(limit, credit))
    }

    /// Adds a number of tokens to a balance below a bound, up to that bound.
    mutating func add(_ count: Int, upTo bound: Int) {
        millionths = min(bound * Self.token, millionths + count * Self.token)
    }

    /// Takes a token, and returns whether there was one.
    mutating func withdraw() -> Bool {
        guard millionths >= Self.token else { return false }
        millionths -= Self.token
        return true
    }
}
