#if Observability
/// What an attribute says. Spans keep texts and numbers apart.
enum AttributeValue: Hashable, Sendable, CustomStringConvertible {
    case text(String)
    case integer(Int)
    case seconds(Double)

    init(_ duration: Duration) {
        self = .seconds(duration / .seconds(1))
    }

    var description: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .seconds(let number): "\(number)"
        }
    }
}
#endif
