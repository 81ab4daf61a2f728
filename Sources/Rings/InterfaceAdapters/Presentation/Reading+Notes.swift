import InwardCore

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
