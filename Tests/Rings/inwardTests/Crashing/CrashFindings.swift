/// What came of writes to an upstream, set beside what was promised of them.
struct CrashFindings {
    /// What was accepted and not done.
    let lost: [String]
    /// What was sent with several keys, and so may have been done twice.
    let twice: [String]
    /// The keys that came with different requests or bodies.
    let differing: [String]
    /// How many writes came without a key.
    let keylessCount: Int
    /// How many writes came with a key that had come before.
    let repeatCount: Int
    /// How much was done that nobody was told to be accepted.
    let unpromisedCount: Int

    /// Compares.
    ///
    /// - Parameters:
    ///   - accepted: The titles of the writes that were accepted, each of which was given to the program once, but for those that
    ///     are kept as refused.
    ///   - journal: Every write that arrived.
    ///   - done: Those that were done. Where keys are not honoured all that arrived are.
    init(accepted: [String], journal: [JournaledWrite], done: [JournaledWrite]) {
        let keys = Dictionary(grouping: journal.filter { $0.key != nil }) { $0.key ?? "" }
        let titles = Dictionary(grouping: journal) { $0.title ?? "" }
        let doneTitles = Set(done.compactMap(\.title))
        lost = accepted.filter { !doneTitles.contains($0) }
        twice = titles.filter { Set($0.value.map(\.key)).count > 1 }.keys.sorted()
        differing = keys.filter { Set($0.value).count > 1 }.keys.sorted()
        keylessCount = journal.count { $0.key == nil }
        repeatCount = journal.count - keylessCount - keys.count
        unpromisedCount = doneTitles.subtracting(accepted).count
    }
}
