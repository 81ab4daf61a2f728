import Foundation
import InwardRepositories
import InwardScopes
import Soaking

// Opens and evicts sessions of many users, each of which reads some pages into its memory. Exits with status 1 if memory has
// grown, or if more sessions were open than the limit allows.
let numbers = CommandLine.arguments.dropFirst().map { Int($0) }
guard numbers.count <= 2, !numbers.contains(nil) else {
    say("usage: session-soak [users] [limit]")
    exit(2)
}
let users = max(1_000, (numbers.first ?? nil) ?? 10_000)
// The limit is reached in the first tenth of the run, which is the baseline for the others.
let limit = min(max(1, (numbers.dropFirst().first ?? nil) ?? 100), users / 20)
guard let url = URL(string: "https://upstream.test") else { exit(2) }
var configuration = AppScopeConfiguration(Upstream(baseURL: url, dataFetcher: pageUpstream()))
configuration.responseCacheBytes = 1_024 * 1_024
let app = await AppScope("pages", configuration)
let sessions = try await app.sessionRegistry(SessionLimits(count: limit))
var memory = MemorySeries()
var openCount = 0
let start = ContinuousClock.now
for first in stride(from: 0, to: users, by: 20) {
    try await withThrowingTaskGroup { group in
        for user in first..<min(first + 20, users) {
            group.addTask {
                try await sessions.withSession(of: "\(user)") { session in
                    let pages = try session.repository(.pages)
                    for id in 0..<20 { _ = try await pages.entity(id) }
                }
            }
        }
        try await group.waitForAll()
    }
    openCount = max(openCount, sessions.status.openCount + sessions.status.closingCount)
    memory.sample(at: .seconds(first))
}
let time = start.duration(to: .now)
let tenths = memory.tenths(of: .seconds(users)).map { String(Int($0.rounded())) }.joined(separator: " ")
say("\(users) sessions in \(time), peak memory in each tenth, in MiB: \(tenths)")
let status = sessions.status
var findings = [memory.finding(in: .seconds(users))].compactMap(\.self)
if openCount > limit { findings.append("\(openCount) sessions were open, but the limit is \(limit).") }
if status.opened != users { findings.append("Only \(status.opened) of \(users) sessions were opened.") }
try await app.close()
for finding in findings { say(finding) }
if findings.isEmpty { say("No problems found.") }
exit(findings.isEmpty ? 0 : 1)
