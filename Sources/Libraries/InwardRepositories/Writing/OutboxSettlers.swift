/// Who settles the writes of an outbox: groups, each with at most one for an endpoint.
struct OutboxSettlers {
    private var groups: [(member: OutboxMember, settlers: [String: any OutboxSettler])] = []
    private var lastNumber = 0

    /// Adds a group.
    ///
    /// - Returns: what it is removed by.
    mutating func add(_ settlers: [String: any OutboxSettler]) -> OutboxMember {
        lastNumber += 1
        groups.append((OutboxMember(number: lastNumber), settlers))
        return OutboxMember(number: lastNumber)
    }

    /// Removes a group.
    ///
    /// - Returns: its settlers, to be let go outside of a lock; `nil` if there is no such group.
    mutating func remove(_ member: OutboxMember) -> [String: any OutboxSettler]? {
        guard let place = groups.firstIndex(where: { $0.member == member }) else { return nil }
        return groups.remove(at: place).settlers
    }

    /// Those of an endpoint, in the order of their groups.
    func all(for endpoint: String) -> [any OutboxSettler] { groups.compactMap { $0.settlers[endpoint] } }

    /// Whether somebody settles the writes of an endpoint.
    func settle(_ endpoint: String) -> Bool { groups.contains { $0.settlers[endpoint] != nil } }

    /// Why a write is not sent; `nil` if somebody settles its endpoint and declares what it asks for.
    func objection(to write: OutboxWrite) -> HeldEntryError.Reason? {
        var isSettled = false
        for group in groups {
            guard let settler = group.settlers[write.endpoint] else { continue }
            if settler.declares(write) { return nil }
            isSettled = true
        }
        return isSettled
            ? .undeclared(endpoint: write.endpoint, operation: OutboxOperation(write.method, write.path))
            : .unsettled(endpoint: write.endpoint)
    }

    /// The operations that somebody declares for an endpoint.
    func operations(of endpoint: String) -> [OutboxOperation] { all(for: endpoint).flatMap(\.operations) }

    /// Whether there is nobody.
    var isEmpty: Bool { groups.isEmpty }

    /// Tells each all of its entries that are pending, in their order, and that no others are.
    func reset(to entries: [OutboxEntry]) {
        let byEndpoint = Dictionary(grouping: entries, by: \.write.endpoint)
        for group in groups {
            for (endpoint, settler) in group.settlers.sorted(by: { $0.key < $1.key }) {
                settler.reset(to: (byEndpoint[endpoint] ?? []).filter { settler.declares($0.write) })
            }
        }
    }

    /// Tells each of its entries, in their order.
    func tell(of entries: [OutboxEntry]) {
        if entries.count == 1, let entry = entries.first {
            for group in groups {
                guard let settler = group.settlers[entry.write.endpoint], settler.declares(entry.write) else {
                    continue
                }
                settler.accepted(entries)
            }
            return
        }
        let byEndpoint = Dictionary(grouping: entries, by: \.write.endpoint).sorted { $0.key < $1.key }
        for group in groups {
            for (endpoint, entries) in byEndpoint {
                guard let settler = group.settlers[endpoint] else { continue }
                let declared = entries.filter { settler.declares($0.write) }
                if !declared.isEmpty { settler.accepted(declared) }
            }
        }
    }
}
