import InwardCore
import InwardRepositories

extension RecordStoreConformance {
    /// A commit of a cancelled task is made whole or reports that it was cancelled and changes nothing, whenever it is cancelled.
    /// What is committed beside it stays.
    func cancellationViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        var violations: Set<String> = []
        try await CancellationSweep.run(CancellationMoment.Order.allCases) { round, moment throws(RecordStoreError) in
            let keys = (0..<3).map { RecordKey(["cancelled", String(round), String($0)]) }
            let lasting: RecordKey = ["lasting", String(round)]
            let (ending, other) = await moment.result {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    try await store.commit(keys.map { .keep(StoredRecord([1]), $0) })
                })
            } beside: {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    try await store.commit([.keep(StoredRecord([2]), lasting)])
                })
            }
            let count = try await store.records(under: ["cancelled", String(round)]).count
            switch ending {
            case .success where count == 0:
                violations.insert("A commit of a cancelled task must be made where it does not fail, and is not.")
            case .failure(let error) where error.reason != .cancelled:
                violations.insert("A commit of a cancelled task must fail as cancelled, and did as \(error.reason).")
            case .failure where count > 0:
                violations.insert("A commit that fails as cancelled must change nothing, and did.")
            case .success where count < 3:
                violations.insert("A commit of a cancelled task must be made whole, and is not.")
            case .success, .failure: break
            }
            try other?.get()
            if other != nil, try await store.record(for: lasting) == nil {
                violations.insert("What is kept while another commit is cancelled must be there, and is not.")
            }
            return count == 3
        }
        return violations.sorted()
    }

    /// A read of a cancelled task finds what is kept or fails as cancelled. Where nothing is lost, no loss is named.
    func cancelledReadViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let keys = (0..<4).map { RecordKey(["read", String($0)]) }
        try await store.commit(keys.map { .keep(StoredRecord([1]), $0) })
        let record = await violations(ofReading: "A record") { () async throws(RecordStoreError) in
            try await store.record(for: keys[0]) == StoredRecord([1])
        }
        let list = await violations(ofReading: "A list") { () async throws(RecordStoreError) in
            try await store.records(under: ["read"]).map(\.key) == keys
        }
        let losses = await violations(ofReading: "A list of losses") { () async throws(RecordStoreError) in
            try await store.losses(under: ["read"]).keys.isEmpty
        }
        return record + list + losses
    }

    /// A cancelled read of losses names those that there are or fails as cancelled.
    func cancelledLossViolations(
        _ store: any RecordStore,
        under key: RecordKey,
        losing keys: [RecordKey]
    ) async -> [String] {
        await violations(ofReading: "A list of losses") { () async throws(RecordStoreError) in
            try await store.losses(under: key).keys == keys
        }
    }

    /// What is wrong with the endings of a read whose task is cancelled. It returns whether it gave all that it should.
    private func violations(
        ofReading name: String,
        _ read: @escaping @Sendable () async throws(RecordStoreError) -> Bool
    ) async -> [String] {
        var violations: Set<String> = []
        await CancellationSweep.run([.alone]) { _, moment in
            let (ending, _) = await moment.result {
                await Result(awaiting: read)
            } beside: {
            }
            violations.formUnion(Self.violations(of: name, ending))
            return (try? ending.get()) == true
        }
        return violations.sorted()
    }

    /// What is wrong with the ending of a cancelled read.
    private static func violations(of name: String, _ ending: Result<Bool, RecordStoreError>) -> [String] {
        switch ending {
        case .success(false): ["\(name) that a cancelled task reads must be whole, and is not."]
        case .failure(let error) where error.reason != .cancelled:
            ["\(name) that a cancelled task reads must fail as cancelled, and did as \(error.reason)."]
        case .success, .failure: []
        }
    }
}
