import InwardCore
import InwardFetching
import Synchronization

/// Gives out tokens, of which the newest is good for so many requests.
final class TokenIssuer: Sendable {
    private let timer: TimerService
    private let findings: Findings
    private let lifetime: Int
    private let valid = Atomic(1)
    private let uses = Atomic(0)
    private let renewals = Atomic(0)
    private let underWay = Atomic(0)
    /// Whether now and then nothing is given out.
    let isUnreliable = Atomic(false)

    init(lifetime: Int, timer: TimerService, findings: Findings) {
        self.lifetime = lifetime
        self.timer = timer
        self.findings = findings
    }

    /// How often a token was asked for.
    var count: Int { renewals.load(ordering: .relaxed) }

    /// Whether a token is the one that counts.
    func accepts(_ token: String?) -> Bool {
        guard token == value(valid.load(ordering: .relaxed)) else { return false }
        if uses.add(1, ordering: .relaxed).newValue.isMultiple(of: lifetime) { valid.add(1, ordering: .relaxed) }
        return true
    }

    /// The newest token, after a while, for a request that is told of where there is none.
    func renew(for request: DataRequest) async throws(FetchError) -> Credential {
        if underWay.add(1, ordering: .relaxed).newValue > 1 {
            findings.add("Credentials were renewed twice at a time.")
        }
        defer { underWay.subtract(1, ordering: .relaxed) }
        let number = renewals.add(1, ordering: .relaxed).newValue
        // Whoever cancels it gets the token sooner.
        try? await timer.sleep(for: .milliseconds(number % 4))
        guard !isUnreliable.load(ordering: .relaxed) || !number.isMultiple(of: 20) else {
            throw FetchError(.unreachable, request: request, explanation: "has no token")
        }
        return Credential(HeaderField(.authorization, value(valid.load(ordering: .relaxed))))
    }

    private func value(_ number: Int) -> String { "Bearer \(number)" }
}
