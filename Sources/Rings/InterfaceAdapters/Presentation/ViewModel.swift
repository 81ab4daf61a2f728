import InwardCore

/// What a view shows: texts and numbers that are ready, in a form that each renderer makes its own of.
///
/// Encoded, it is the view for programs; its ``document`` is the view for people.
public protocol ViewModel: Encodable, Sendable {
    /// What is shown to people.
    var document: Document { get }
}

/// A file that shows something, and begins with a mark by which it is known again.
public struct RenderedFile: Hashable, Sendable {
    /// What the file is called, without a directory.
    public let name: String
    /// What the file holds. It begins with the mark.
    public let contents: String
    /// What a file of this name begins with if the same program wrote it, and hardly if anybody else did.
    public let mark: String

    /// Makes a file of contents that begin with the mark.
    public init(name: String, contents: String, mark: String) {
        self.name = name
        self.contents = contents
        self.mark = mark
    }
}

extension Reading {
    /// Remarks if the answer is old, not accepted everywhere, or one in place of what was asked for, and one for each record that
    /// was left out.
    var notes: [String] {
        var notes: [String] = []
        if isStale { notes.append("This is as it was \(age.inWords) ago") }
        if isPending { notes.append("The upstream has not accepted all of this yet") }
        if let fallbackReason { notes.append("Degraded, because \(fallbackReason)") }
        return notes + rejected.notes
    }
}

extension Collection<RejectedRecord> {
    /// A remark for each record that was left out.
    var notes: [String] { map { "Left out: \($0)" } }
}

extension [String] {
    /// These remarks as a part of a document, if there are any.
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
