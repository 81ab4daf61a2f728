/// Repeats a piece of work and cancels it at different moments: before it begins, in its first turns, later and later, and around
/// the last moment at which a cancellation still counts.
enum CancellationSweep {
    /// How many of the first turns are all tried.
    private static let firstTurns = 16

    /// Tries all moments, for each of the orders in which others work beside what is cancelled.
    ///
    /// An attempt does the work of a round and has it cancelled at the moment. It tells whether the work was done all the same.
    static func run<Failure: Error>(
        _ orders: [CancellationMoment.Order],
        _ attempt: (_ round: Int, _ moment: CancellationMoment) async throws(Failure) -> Bool
    ) async throws(Failure) {
        var round = 0
        for order in orders {
            // The first is never cancelled, so that it tells how long the work takes.
            let whole = CancellationMoment(turns: nil, order: order)
            _ = try await attempt(round, whole)
            round += 1
            var turns = Array(0..<firstTurns)
            while let last = turns.last, last < 2 * whole.passed { turns.append(max(last, 1) * 2) }
            // Work that goes wrong does so between the last cancellation that counted and the first that came too late.
            var early = -1
            for turn in turns {
                if try await !attempt(round, CancellationMoment(turns: turn, order: order)) { early = turn }
                round += 1
            }
            guard var late = turns.first(where: { $0 > early }) else { continue }
            while late - early > 1 {
                let middle = early + (late - early) / 2
                let isDone = try await attempt(round, CancellationMoment(turns: middle, order: order))
                round += 1
                if isDone { late = middle } else { early = middle }
            }
        }
    }
}
