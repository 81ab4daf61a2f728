import InwardCore
import InwardTesting
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct ObserversTests {
    private let scheduler = DeterministicScheduler(seed: 7)

    /// Returns whether a signal is set, and clears it.
    private func isSet(_ signal: ChangeSignal) async throws -> Bool {
        let timer = scheduler.timer
        return try await scheduler.run {
            let outcome = await Deadline(in: .seconds(1), on: timer).carried { await signal.wait() }
            return if case .success(.fulfilled) = outcome { true } else { false }
        }
    }

    @Test func onlyObserversOfTheKeyAreNotified() async throws {
        let observers = Observers<Int>()
        let all = (0..<10_000).map { observers.observe($0) }
        let another = observers.observe(7)
        observers.notify([7, 10_000])
        #expect(try await isSet(all[7].signal))
        #expect(try await isSet(another.signal))
        #expect(try await !isSet(all[8].signal))
        observers.notifyAll()
        #expect(try await isSet(all[8].signal))
        #expect(observers.count == 10_001)
    }

    @Test func observersAreNotifiedOfEachChangeOfPendingWrites() async throws {
        let observers = RepositoryObservers<Remark>()
        let pending = PendingLayer<Remark>(notifying: observers)
        let (one, other) = (observers.entities.observe(1), observers.entities.observe(2))
        let list = observers.lists.observe(.all)
        let write = PendingLayer<Remark>.Write(key: "a", id: 1, subject: ["1"], effect: .deleted)
        func notified() async throws -> [Bool] {
            [try await isSet(one.signal), try await isSet(other.signal), try await isSet(list.signal)]
        }
        pending.add(write)
        #expect(try await notified() == [true, false, true])
        pending.replace(write)
        #expect(try await notified() == [true, false, true])
        pending.remove("a")
        #expect(try await notified() == [true, false, true])
        _ = pending.reset(to: [write])
        #expect(try await notified() == [true, true, true])
    }

    @Test func conditionIsCalledForObservedKeysOnly() async throws {
        let observers = Observers<Int>()
        let (first, second) = (observers.observe(1), observers.observe(2))
        var asked: [Int] = []
        observers.notify([1, 2, 3]) { key in
            asked.append(key)
            return key == 2
        }
        #expect(asked == [1, 2])
        #expect(try await !isSet(first.signal))
        #expect(try await isSet(second.signal))
    }

    @Test func releasedObserverIsRemoved() {
        let observers = Observers<Int>()
        var one: Observer<Int>? = observers.observe(1)
        let other = observers.observe(1)
        #expect(observers.count == 2 && one != nil)
        one = nil
        #expect(observers.count == 1 && other.key == 1)
        withExtendedLifetime(other) {}
    }

    @Test func severalSignalsBeforeAWaitCountOnce() async throws {
        let signal = ChangeSignal()
        signal.set()
        signal.set()
        #expect(try await isSet(signal))
        #expect(try await !isSet(signal))
    }

    @Test func signalEndsTheWait() async throws {
        let signal = ChangeSignal()
        try await scheduler.run { [scheduler] in
            async let outcome = signal.wait()
            try await scheduler.timer.sleep(for: .seconds(1))
            signal.set()
            guard case .fulfilled = await outcome else {
                Issue.record("The signal did not end the wait.")
                return
            }
        }
        #expect(try await !isSet(signal))
    }
}
