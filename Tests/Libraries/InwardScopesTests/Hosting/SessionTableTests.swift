import InwardTesting
import Synchronization
import Testing

@testable import InwardScopes

/// Tests of a registry's decisions, without tasks and clocks.
struct SessionTableTests {
    /// A session that does nothing.
    private final class Stub: RegisteredSession {
        private let state = Mutex((isOpen: true, hasWork: false))

        var isOpen: Bool { state.withLock(\.isOpen) }
        var hasWork: Bool { state.withLock(\.hasWork) }

        func close() { state.withLock { $0.isOpen = false } }
        func work(_ hasWork: Bool) { state.withLock { $0.hasWork = hasWork } }
    }

    /// A registry that acts in random order, and the invariants to check.
    private struct Walk {
        static let limit = 3

        var table = SessionTable<Stub>(SessionLimits(count: Walk.limit, idleTime: .seconds(10)))
        var now = Duration.zero
        /// The sessions that are opening, with those that must close first.
        var openings: [Int: (key: SessionKey, after: Set<Int>)] = [:]
        var open: [Int: (key: SessionKey, session: Stub)] = [:]
        var departures: [Int: SessionTable<Stub>.Departure] = [:]
        var uses: [(key: SessionKey, number: Int)] = []
        var ended: Set<Int> = []
        var rejections = 0

        /// The sessions that exist or are about to open.
        var existing: [SessionKey] {
            open.values.map(\.key) + openings.values.filter { $0.after.isSubset(of: ended) }.map(\.key)
        }

        mutating func admit(_ key: SessionKey) {
            switch table.admit(key, at: now) {
            case .open(let session, let number):
                #expect(session === open[number]?.session)
                uses.append((key, number))
            case .joins(let number):
                #expect(openings[number]?.key == key)
                uses.append((key, number))
            case .opens(let number, let departure, let after):
                if let departure { depart(departure) }
                openings[number] = (key, Set(after))
                uses.append((key, number))
            case .full:
                rejections += 1
                #expect(open.count + openings.count >= Walk.limit)
            case .closed: Issue.record("The table says that it is closed, but it was not closed.")
            }
        }

        mutating func depart(_ departure: SessionTable<Stub>.Departure) {
            #expect(departures.updateValue(departure, forKey: departure.number) == nil)
        }

        mutating func finishOpening(_ number: Int, succeeds: Bool) {
            guard let (key, after) = openings[number], after.isSubset(of: ended) else { return }
            openings[number] = nil
            guard succeeds else {
                uses.removeAll { $0.number == number }
                return table.failed(key, number: number)
            }
            let session = Stub()
            open[number] = (key, session)
            let isUsed = table.opened(session, key, number: number, at: now)
            #expect(isUsed == (departures[number] == nil))
        }

        mutating func finishClosing(_ number: Int) {
            guard openings[number] == nil, let departure = departures.removeValue(forKey: number) else { return }
            open[number] = nil
            ended.insert(number)
            table.departed(departure)
        }

        mutating func release(_ place: Int) {
            let use = uses.remove(at: place)
            table.release(use.key, number: use.number, at: now)
        }

        mutating func step(_ random: inout SplitMix64) {
            let key = SessionKey(
                user: "\(Int.random(in: 0..<3, using: &random))",
                key: Bool.random(using: &random) ? "a" : nil
            )
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3: admit(key)
            case 4...5:
                if let place = uses.indices.randomElement(using: &random) { release(place) }
            case 6...7:
                guard let number = openings.keys.sorted().randomElement(using: &random) else { return }
                finishOpening(number, succeeds: Int.random(in: 0..<4, using: &random) > 0)
            case 8:
                if let number = departures.keys.sorted().randomElement(using: &random) { finishClosing(number) }
            case 9:
                now += .seconds(Int.random(in: 0..<8, using: &random))
                for departure in table.expire(at: now) {
                    #expect(!uses.contains { $0.number == departure.number })
                    #expect(departure.session?.hasWork == false)
                    depart(departure)
                }
            case 10:
                if let departure = table.depart(key) { depart(departure) }
            default:
                guard let number = open.keys.sorted().randomElement(using: &random) else { return }
                if Bool.random(using: &random) { open[number]?.session.work(Bool.random(using: &random)) }
                if Int.random(in: 0..<5, using: &random) == 0 { open[number]?.session.close() }
            }
        }

        mutating func finish() {
            for departure in table.close() { depart(departure) }
            while !openings.isEmpty || !departures.isEmpty {
                for number in openings.keys.sorted() { finishOpening(number, succeeds: true) }
                for number in departures.keys.sorted() { finishClosing(number) }
            }
        }
    }

    @Test(arguments: 1...50)
    func randomWalkKeepsTheLimitAndOneSessionPerKey(round: UInt64) {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var walk = Walk()
        for _ in 0..<500 {
            walk.step(&random)
            let (existing, status) = (walk.existing, walk.table.status)
            let isSound =
                existing.count <= Walk.limit && Set(existing).count == existing.count
                && status.closingCount == walk.departures.count && status.openCount <= walk.open.count
                && status.inUseCount <= status.openCount && (0...Walk.limit).contains(status.openCount)
            #expect(isSound, "The seed was \(seed): \(existing), \(status).")
            if !isSound { return }
        }
        walk.finish()
        #expect(walk.table.status.openCount == 0, "The seed was \(seed).")
        #expect(walk.table.status.openingCount == 0, "The seed was \(seed).")
        #expect(walk.table.status.rejected == walk.rejections, "The seed was \(seed).")
    }

    @Test func allSlotsAreFreeAfterAllSessionsClose() {
        for seed in 0..<50 {
            var random = SplitMix64(seed: UInt64(seed))
            var walk = Walk()
            for _ in 0..<200 { walk.step(&random) }
            while !walk.openings.isEmpty || !walk.departures.isEmpty || !walk.open.isEmpty {
                for number in walk.openings.keys.sorted() { walk.finishOpening(number, succeeds: true) }
                for (key, _) in walk.open.values {
                    if let departure = walk.table.depart(key) { walk.depart(departure) }
                }
                for number in walk.departures.keys.sorted() { walk.finishClosing(number) }
            }
            for number in 0..<Walk.limit { walk.admit(SessionKey(user: "new \(number)", key: nil)) }
            #expect(walk.openings.values.allSatisfy { $0.after.isEmpty })
            #expect(walk.openings.count == Walk.limit)
        }
    }
}
