/// A comparison of accepted writes with the writes that an upstream received and performed.
struct CrashFindings {
    /// The titles of writes that were accepted but not done.
    let lost: [String]
    /// The titles of writes that were sent with several keys, and so may have been done twice.
    let twice: [String]
    /// The keys of writes with different requests or bodies.
    let differing: [String]
    /// The number of writes without a key.
    let keylessCount: Int
    /// The number of writes whose key had arrived before.
    let repeatCount: Int
    /// The number of writes that were done but not reported as accepted.
    let unpromisedCount: Int

    /// Compares the writes.
    ///
    /// - Parameters:
    ///   - accepted: The unique titles of the accepted writes, except for those that are kept as refused.
    ///   - journal: Every write that arrived.
    ///   - done: The writes that were done. Without support for keys, these are all that arrived.
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
