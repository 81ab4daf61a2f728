import UseCases

extension Collection<RejectedRecord> {
    /// A remark for each record that was left out.
    var notes: [String] { map { "Left out: \($0)" } }
}

extension [Document.Block] {
    /// Adds remarks, if there are any.
    mutating func appendNotes(_ notes: [String]) {
        if !notes.isEmpty { append(.notes(notes)) }
    }
}
