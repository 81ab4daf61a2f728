import InwardCore

extension Collection<RejectedRecord> {
    /// A remark for each record that was left out.
    var notes: [String] { map { "Left out: \($0)" } }
}

extension [String] {
    /// These remarks as a part of a document, if there are any.
    var block: [Document.Block] { isEmpty ? [] : [.notes(self)] }
}
