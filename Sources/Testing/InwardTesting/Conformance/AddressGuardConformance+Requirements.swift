import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AddressGuardStage {
    /// A name is looked up once for each request. A resolver that changes its answer diverts nothing.
    func lookupViolations() async throws(AddressPolicyError) -> [String] {
        let resolver = StubHostResolver { [address, internalAddress] _, count throws(HostResolutionError) in
            [count == 1 ? address : internalAddress]
        }
        let client = try guarded(resolver)
        var violations: [String] = []
        let before = await count("host")
        switch await client.outcome(of: request("host")) {
        case .success(let response):
            let host = String(decoding: response.body, as: UTF8.self)
            if host != "\(Self.name):\(port)" {
                violations.append("The server must receive the host \(Self.name):\(port), but received \(host).")
            }
        case .failure(let error):
            violations.append("A request to an allowed address must be sent, but failed: \(error).")
        }
        if resolver.lookups != [Self.name] {
            violations.append("The host must be looked up once for a request, but was looked up: \(resolver.lookups).")
        }
        // Connections that are open already do not spare the check.
        let outcome = await client.outcome(of: request("host"))
        violations += self.violations(outcome, "A request to a name that changed its address", by: .privateUse)
        return violations + (await unsent("host", since: before.map { $0 + 1 }))
    }

    /// Every address is checked, in any position.
    func addressViolations() async throws(AddressPolicyError) -> [String] {
        var violations: [String] = []
        let before = await count("addresses")
        for addresses in [[internalAddress], [address, internalAddress], [internalAddress, address]] {
            let resolver = StubHostResolver(addresses)
            let outcome = try await guarded(resolver).outcome(of: request("addresses"))
            violations += self.violations(
                outcome,
                "A name with one refused address of \(addresses.count)",
                by: .privateUse
            )
        }
        violations += await unsent("addresses", since: before)
        let unknown = StubHostResolver { _, _ throws(HostResolutionError) in throw HostResolutionError("no such name") }
        for resolver in [unknown, StubHostResolver([])] {
            let outcome = try await guarded(resolver).outcome(of: request("addresses"))
            if case .failure(let error) = outcome, error.reason == .unreachable { continue }
            violations.append("A name without addresses must fail as \(FetchError.Reason.unreachable).")
        }
        return violations
    }

    /// URLs are refused before a name is looked up.
    func spellingViolations() async throws(AddressPolicyError) -> [String] {
        let resolver = StubHostResolver([address])
        let client = try guarded(resolver)
        var violations: [String] = []
        let before = await count("spelling")
        for authority in [
            "\(address):\(port)", "2130706433:\(port)", "0x7f.1:\(port)", "127.1:\(port)", "localhost:\(port)",
            "[::ffff:127.0.0.1]:\(port)", "user@\(Self.name):\(port)", ":@\(Self.name):\(port)",
            "\(Self.name).:\(port)", "other.example.org:\(port)", "\(Self.name):\(port == 80 ? 81 : 80)", Self.name,
        ] {
            let outcome = await client.outcome(of: request("spelling", at: authority))
            violations += self.violations(outcome, "The URL http://\(authority)/spelling")
        }
        if !resolver.lookups.isEmpty {
            violations.append("The host of a refused URL must not be looked up, but was: \(resolver.lookups).")
        }
        return violations + (await unsent("spelling", since: before))
    }

    /// A client that follows redirects checks each of them, URL and addresses. It may also return them.
    func redirectViolations() async throws(AddressPolicyError) -> [String] {
        let resolver = StubHostResolver { [address, internalAddress] _, count throws(HostResolutionError) in
            [count.isMultiple(of: 2) ? internalAddress : address]
        }
        let client = try guarded(resolver)
        var violations: [String] = []
        let before = await count("target")
        for target in [
            "http://\(address):\(port)/target", "http://user@\(Self.name):\(port)/target",
            "http://\(Self.name):\(port == 80 ? 81 : 80)/target", "http://localhost:\(port)/target",
            // The second lookup of the same name returns another address.
            "http://\(Self.name):\(port)/target",
        ] {
            var moved = request("moved")
            moved.url.append(queryItems: [URLQueryItem(name: "to", value: target)])
            let outcome = await client.outcome(of: moved)
            if case .success(let response) = outcome, response.status == 302 { return violations }
            violations += self.violations(outcome, "A redirect to \(target)")
        }
        return violations + (await unsent("target", since: before))
    }

    /// A wait for a lookup ends when the task is cancelled or its deadline passes.
    func waitViolations(_ patience: Duration) async throws(AddressPolicyError) -> [String] {
        var violations: [String] = []
        let clock = ManualClock()
        let timer = TimerService(clock)
        for (reason, isCancelled) in [(FetchError.Reason.cancelled, true), (.timedOut, false)] {
            let (asked, answered) = (Promise<Void>(), Promise<Void>())
            let resolver = StubHostResolver { _, _ throws(HostResolutionError) in
                asked.fulfill(())
                _ = await answered.value(until: nil)
                throw HostResolutionError("not answered")
            }
            let client = try guarded(resolver)
            let outcome = await withTaskGroup { group in
                group.addTask {
                    // A client that does not look up the host ends the wait below as well.
                    defer { asked.fulfill(()) }
                    return await Deadline(in: .seconds(1), on: timer).carried {
                        await client.outcome(of: request("wait"))
                    }.get()
                }
                _ = await asked.value()
                if isCancelled { group.cancelAll() } else { clock.advance(by: .seconds(1)) }
                // In case the client would wait forever.
                let callOff = Deadline(in: patience).whenPassed { answered.fulfill(()) }
                defer { callOff() }
                return await group.next()
            }
            answered.fulfill(())
            if case .failure(let error) = outcome, error.reason == reason, !error.wasSent { continue }
            violations.append(
                "A wait for a lookup must fail as \(reason) and unsent, but its outcome was: \(outcome as Any)."
            )
        }
        return violations
    }

    /// Policies add up. A trusted origin is not looked up by the guard, and nothing else is allowed.
    func trustViolations() async throws(AddressPolicyError) -> [String] {
        let resolver = StubHostResolver([internalAddress])
        let origin = try AddressPolicy.origin(of: server)
        let client = try makeClient(resolver).guarding(with: origin)
        var violations: [String] = []
        let path = "trusted"
        let trusted = DataRequest(url: server.appending(path: path))
        if case .failure(let error) = await client.outcome(of: trusted) {
            violations.append("A request to a trusted origin must be sent, but failed: \(error).")
        }
        violations += self.violations(
            await client.outcome(of: request(path)),
            "A request to another origin than the trusted"
        )
        if !resolver.lookups.isEmpty { violations.append("A trusted origin must not be looked up, but was.") }
        let strict = try AddressPolicy(schemes: [.http], ports: [port], hosts: [Self.name])
        for policies in [[strict, try policy()], [try policy(), strict]] {
            var both = makeClient(StubHostResolver([address]))
            for policy in policies { both = try both.guarding(with: policy) }
            let outcome = await both.outcome(of: request(path))
            violations += self.violations(outcome, "A request that one of two policies refuses", by: .loopback)
        }
        return violations
    }

    /// Returns whether the server has received requests for a path that must not have been sent.
    private func unsent(_ path: String, since before: Int?) async -> [String] {
        let after = await count(path)
        guard let before, let after else { return ["The server must count requests, but did not."] }
        return before == after ? [] : ["Refused requests must not be sent, but \(after - before) were sent to \(path)."]
    }
}
