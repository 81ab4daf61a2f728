/// Why a request is not tried again.
enum RetryEnding: Hashable, Sendable, CustomStringConvertible {
    /// A retry is not for an outcome like this one.
    case unsuited
    /// Once is what may be done with the request, and it may have been.
    case unrepeatable
    case attemptsExhausted
    case retryAfterTooLong(Duration)
    case deadline
    case budgetExhausted
    case cancelled

    /// Why, as a part of a sentence that begins with the number of attempts.
    var description: String {
        switch self {
        case .unsuited: "a retry is no help"
        case .unrepeatable: "it is not safe to repeat"
        case .attemptsExhausted: "the most allowed"
        case .retryAfterTooLong(let delay): "the upstream asked to wait \(Self.seconds(of: delay))"
        case .deadline: "the deadline leaves no time"
        case .budgetExhausted: "the retry budget is used up"
        case .cancelled: "cancelled before the next"
        }
    }

    private static func seconds(of delay: Duration) -> String {
        let (seconds, attoseconds) = delay.components
        let rounded = attoseconds > 0 ? seconds + 1 : seconds
        return rounded == 1 ? "1 second" : "\(rounded) seconds"
    }
}
