import InwardScopes
import InwardTesting
import Synchronization
import Testing

/// Many tasks open, use and close the same scopes concurrently and at random.
@Suite(.timeLimit(.minutes(5)))
struct ScopeWalkTests {
    private typealias App = Scope<AppLifetime, String>

    /// A record of what was opened and closed, in which order.
    private final class Ledger: Sendable {
        private struct Entries {
            var made: Set<String> = []
            var parents: [String: String] = [:]
            var closed: [String] = []
        }

        private let entries = Mutex(Entries())

        func make(_ name: String) { _ = entries.withLock { $0.made.insert(name) } }
        func open(_ name: String, in parent: String) { entries.withLock { $0.parents[name] = parent } }
        func close(_ name: String) { entries.withLock { $0.closed.append(name) } }

        /// The number of objects created for scopes.
        var count: Int { entries.withLock(\.made.count) }

        /// The violated invariants, as sentences.
        var violations: [String] {
            let (made, parents, closed) = entries.withLock { ($0.made, $0.parents, $0.closed) }
            let places = Dictionary(closed.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
            let left = made.filter { places[$0] == nil }.map { "\($0) was not closed" }
            let late = parents.filter { name, parent in places[name, default: 0] > places[parent, default: .max] }
            let twice = closed.count - places.count
            return left + late.map { "\($0) was closed after \($1)" }
                + (twice == 0 ? [] : ["\(twice) objects were closed twice"])
        }
    }

    @Test(arguments: 1...20)
    func randomWalkClosesEverythingOnceAndInOrder(round: UInt64) async throws {
        let ledger = Ledger()
        let app = await App.open("app", limit: ClosingLimit(.seconds(600), on: ManualClock())) { opening in
            opening.closing("app", as: "app") { ledger.close($0) }
        }
        let seed = UInt64.random(in: 0 ... .max)
        await withTaskGroup { group in
            for walker in 0..<8 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(walker))
                    await Self.walk(walker, in: app, ledger, &random)
                }
            }
        }
        try await app.close()
        #expect(ledger.count > 0)
        #expect(ledger.violations == [], "The seed was \(seed).")
        #expect(app.description == "app app (closed)", "The seed was \(seed).")
    }

    private static func walk(_ walker: Int, in app: App, _ ledger: Ledger, _ random: inout SplitMix64) async {
        var users: [ExampleUser] = []
        for step in 0..<30 {
            let name = "\(walker).\(step)"
            // Each walker opens something in the app before it may close the app.
            switch step == 0 ? 0 : Int.random(in: 0..<10, using: &random) {
            case 0...2:
                let user = try? await ExampleUser.open(name, in: app) { opening, _ in
                    ledger.make(name)
                    return opening.closing(name, as: name) { ledger.close($0) }
                }
                guard let user else { continue }
                ledger.open(name, in: "app")
                users.append(user)
            case 3...5:
                guard let user = users.randomElement(using: &random) else { continue }
                let feature = try? await ExampleFeature.open(name, in: user) { opening, _ in
                    ledger.make(name)
                    return opening.closing(name, as: name) { ledger.close($0) }
                }
                if feature != nil { ledger.open(name, in: user.name) }
            case 6...7:
                guard let user = users.randomElement(using: &random) else { continue }
                _ = try? await user.run { text in
                    await Task.yield()
                    return text
                }
            case 8:
                guard let user = users.randomElement(using: &random) else { continue }
                await withTaskGroup { group in
                    for _ in 0..<3 { group.addTask { try? await user.close() } }
                }
            default:
                // Occasionally closes the app while the other tasks use it.
                if step >= 10, Int.random(in: 0..<40, using: &random) == 0 { try? await app.close() }
            }
        }
    }
}
