import UseCases

extension Reading {
    /// A remark if the answer is one in place of what was asked for, and one for each record that was left out.
    var notes: [String] { (degradation.map { ["Degraded, because \($0)"] } ?? []) + rejected.notes }
}
