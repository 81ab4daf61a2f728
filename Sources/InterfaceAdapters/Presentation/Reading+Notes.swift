import UseCases

extension Reading {
    /// Remarks if the answer is old, not accepted everywhere, or one in place of what was asked for, and one for each record that
    /// was left out.
    var notes: [String] {
        var notes: [String] = []
        if isStale { notes.append("This is as it was \(age.inWords) ago") }
        if isPending { notes.append("The upstream has not accepted all of this yet") }
        if let degradation { notes.append("Degraded, because \(degradation)") }
        return notes + rejected.notes
    }
}

extension Duration {
    /// The duration in its largest whole unit, such as `5 minutes`.
    fileprivate var inWords: String {
        let units: [(seconds: Int64, name: String)] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")]
        let seconds = max(0, components.seconds)
        let unit = units.first { seconds >= $0.seconds } ?? (1, "second")
        let count = seconds / unit.seconds
        return "\(count) \(unit.name)\(count == 1 ? "" : "s")"
    }
}
