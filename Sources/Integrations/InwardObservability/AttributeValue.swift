#if Observability
import InwardCore

/// What an attribute says. Spans keep texts and numbers apart.
enum AttributeValue: Hashable, Sendable, CustomStringConvertible {
    /// A text in which nothing is hidden, see ``text(_:)``.
    case visible(String)
    case integer(Int)
    case seconds(Double)

    /// A text that may come from outside, with control characters and invisible ones written out.
    static func text(_ text: String) -> Self { .visible(text.visible) }

    init(_ duration: Duration) {
        self = .seconds(duration / .seconds(1))
    }

    var description: String {
        switch self {
        case .visible(let text): text
        case .integer(let number): "\(number)"
        case .seconds(let number): "\(number)"
        }
    }
}
#endif
