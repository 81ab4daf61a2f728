import Comparing
import InwardRepositories
import InwardScopes
import Measuring

/// Compares the cost of reading a thousand public entities in a hundred sessions with that of a plain repository.
///
/// The sessions read in turn. Each first reads everything once, which counts the requests to the upstream. Then all read from
/// memory. Ratios are computed in each round, and their medians are printed.
func compareSessions() async throws {
    let rows = [
        try await SharedReads("a plain repository", for: nil),
        try await SharedReads("one repository in the app's scope", for: .everyone),
        try await SharedReads("the same, looked up for each read", for: .everyone, isAskedForEachTime: true),
        try await SharedReads("one repository in each session", for: .session),
    ]
    var rounds: [[Measurement]] = []
    for _ in 0..<9 {
        var costs: [Measurement] = []
        for row in rows { costs.append(try await row.measured()) }
        rounds.append(costs)
    }
    print("| 1,000 entities, read by 100 sessions | requests | ns | allocations | vs. plain |\n|---|---|---|---|---|")
    for (index, row) in rows.enumerated() {
        let nanoseconds = rounds.map { $0[index].nanoseconds }.median
        let allocations = rounds.map { $0[index].allocations }.median
        let ratio = rounds.map { $0[index].nanoseconds / $0[0].nanoseconds }.median
        let figures = [String(Int(nanoseconds)), allocations.withTwoDigits, ratio.withTwoDigits]
        print("| \(row.name) | \(row.requestCount) | \(figures.joined(separator: " | ")) |")
    }
    for row in rows { try await row.app?.close() }
}

/// A way for many sessions to read the same entities.
struct SharedReads {
    let name: String
    /// The number of upstream requests until every session had read everything once.
    let requestCount: Int
    /// The app that hosts the sessions; `nil` if the repositories belong to no session.
    let app: AppScope<Void>?
    private let read: @Sendable (_ session: Int, _ id: Int) async throws -> Void

    /// Opens the sessions, and reads everything in each.
    init(_ name: String, for audience: Audience?, isAskedForEachTime: Bool = false) async throws {
        let source = Source()
        let upstream = try upstream(source)
        self.name = name
        if let audience {
            let app = await AppScope(name, AppScopeConfiguration(upstream))
            let endpoint = Endpoint<News>.news(for: audience)
            var sessions: [(scope: SessionScope<Void>, news: Repository<News>)] = []
            for user in 0..<100 {
                let session = try await app.signIn(as: "\(user)")
                sessions.append((session, try session.repository(endpoint)))
            }
            let opened = sessions
            self.app = app
            read = { session, id in
                let news = isAskedForEachTime ? try opened[session].scope.repository(endpoint) : opened[session].news
                _ = try await news.entity(id)
            }
        } else {
            let news = Repository(.news(for: .session), upstream: upstream)
            app = nil
            read = { _, id in _ = try await news.entity(id) }
        }
        for session in 0..<100 { for id in 1...1_000 { try await read(session, id) } }
        requestCount = source.requestCount
    }

    /// Measures reads from memory, each in another session than the one before.
    func measured() async throws -> Measurement {
        var next = 0
        return try await Measurement(rounds: 1, calls: 200_000) {
            next += 1
            try await read(next % 100, 1 + next % 1_000)
        }
    }
}
