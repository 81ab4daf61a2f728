import InwardCore

/// Data that is ready to be shown, independent of the output format.
///
/// Programs read its encoded form, and people read its ``document``.
///
/// ```swift
/// struct TotalViewModel: ViewModel {
///     let postCount: Int
///
///     var document: Document {
///         Document(title: "Total", blocks: [.paragraph("\(postCount) posts.")])
///     }
/// }
/// ```
public protocol ViewModel: Encodable, Sendable {
    /// The document to show to people.
    var document: Document { get }
}

extension Reading {
    /// Notes that the answer is stale, pending or a fallback, followed by a note for each rejected record.
    var notes: [String] {
        var notes: [String] = []
        if isStale { notes.append("This may be out of date: it was read \(age.inWords) ago") }
        if isPending { notes.append("This includes changes that the upstream has not accepted yet") }
        if let fallbackReason { notes.append("Degraded, because \(fallbackReason)") }
        return notes + rejected.notes
    }
}

extension Collection<RejectedRecord> {
    /// A note for each rejected record.
    var notes: [String] { map { "Left out: \($0)" } }
}

extension [String] {
    /// The notes as a block of a document; empty if there are none.
    var block: [Document.Block] { isEmpty ? [] : [.notes(self)] }
}

extension Duration {
    /// The duration in its largest whole unit, such as `5 minutes`.
    var inWords: String {
        let units: [(seconds: Int64, name: String)] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")]
        let seconds = max(0, components.seconds)
        let unit = units.first { seconds >= $0.seconds } ?? (1, "second")
        let count = seconds / unit.seconds
        return "\(count) \(unit.name)\(count == 1 ? "" : "s")"
    }
}

extension Duration {
    /// The duration at a readable precision: `0.4 ms`, `12 ms`, `3.1 s`, `20 s`.
    var spoken: String {
        let seconds = self / .seconds(1)
        return switch seconds {
        case ..<0.01: "\(Self.rounded(seconds * 1_000)) ms"
        case ..<1: "\(Int((seconds * 1_000).rounded())) ms"
        case ..<10: "\(Self.rounded(seconds)) s"
        default: "\(Int(min(seconds, 1e15).rounded())) s"
        }
    }

    /// Returns a number with one decimal place, or without it if it is zero.
    private static func rounded(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}
