import InwardCore
import InwardRepositories
import Synchronization

/// The readings of a sequence, and its end.
final class ReadingLog<Value: Sendable>: Sendable {
    private let state = Mutex<(readings: [Reading<Value>], failure: RepositoryError?, hasEnded: Bool)>(([], nil, false))

    var readings: [Reading<Value>] { state.withLock(\.readings) }
    var failure: RepositoryError.Reason? { state.withLock(\.failure?.reason) }
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// Observes until the end.
    func observe(_ changes: ReadingChanges<Value>) async {
        do throws(RepositoryError) {
            for try await reading in changes { state.withLock { $0.readings.append(reading) } }
        } catch {
            state.withLock { $0.failure = error }
        }
        state.withLock { $0.hasEnded = true }
    }
}

extension ReadingChanges.Iterator {
    /// Returns the reason of the error that the next reading throws, or `nil` if there is a reading or the sequence has ended.
    mutating func failure() async -> RepositoryError.Reason? {
        do throws(RepositoryError) {
            _ = try await next()
            return nil
        } catch {
            return error.reason
        }
    }
}
