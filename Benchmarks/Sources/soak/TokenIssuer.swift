import InwardCore
import InwardFetching
import Synchronization

/// Issues tokens. The newest one is valid for a limited number of requests.
final class TokenIssuer: Sendable {
    private let timer: TimerService
    private let findings: Findings
    private let lifetime: Int
    private let valid = Atomic(1)
    private let uses = Atomic(0)
    private let renewals = Atomic(0)
    private let underWay = Atomic(0)
    /// Whether issuing a token fails occasionally.
    let isUnreliable = Atomic(false)

    init(lifetime: Int, timer: TimerService, findings: Findings) {
        self.lifetime = lifetime
        self.timer = timer
        self.findings = findings
    }

    /// The number of requested tokens.
    var count: Int { renewals.load(ordering: .relaxed) }

    /// Returns whether a token is the valid one.
    func accepts(_ token: String?) -> Bool {
        guard token == value(valid.load(ordering: .relaxed)) else { return false }
        if uses.add(1, ordering: .relaxed).newValue.isMultiple(of: lifetime) { valid.add(1, ordering: .relaxed) }
        return true
    }

    /// Returns the newest token after a delay. A failure names the given request.
    func renew(for request: DataRequest) async throws(FetchError) -> Credential {
        if underWay.add(1, ordering: .relaxed).newValue > 1 {
            findings.add("Credentials were renewed twice at the same time.")
        }
        defer { underWay.subtract(1, ordering: .relaxed) }
        let number = renewals.add(1, ordering: .relaxed).newValue
        // A cancelled caller gets the token early.
        try? await timer.sleep(for: .milliseconds(number % 4))
        guard !isUnreliable.load(ordering: .relaxed) || !number.isMultiple(of: 20) else {
            throw FetchError(.unreachable, request: request, explanation: "got no token")
        }
        return Credential(HeaderField(.authorization, value(valid.load(ordering: .relaxed))))
    }

    private func value(_ number: Int) -> String { "Bearer \(number)" }
}
