extension Duration {
    /// This duration for people, to a precision that matters to them: `0.4 ms`, `12 ms`, `3.1 s`, `20 s`.
    var spoken: String {
        let seconds = self / .seconds(1)
        return switch seconds {
        case ..<0.01: "\(Self.rounded(seconds * 1_000)) ms"
        case ..<1: "\(Int((seconds * 1_000).rounded())) ms"
        case ..<10: "\(Self.rounded(seconds)) s"
        default: "\(Int(min(seconds, 1e15).rounded())) s"
        }
    }

    /// A number with one decimal, or none where that is zero.
    private static func rounded(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}
