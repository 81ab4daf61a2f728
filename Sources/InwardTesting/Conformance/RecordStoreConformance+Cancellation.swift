import InterfaceAdapters
import UseCases

extension RecordStoreConformance {
    /// A commit of a cancelled task is made whole or reports that it was cancelled and changes nothing, whenever it is cancelled.
    func cancellationViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        var violations: Set<String> = []
        for round in 0..<64 {
            let keys = (0..<3).map { RecordKey(["cancelled", String(round), String($0)]) }
            let ending = await ending(ofCancelled: round % 16) { () async throws(RecordStoreError) in
                try await store.commit(keys.map { .keep(StoredRecord([1]), $0) })
                return true
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
        }
        return violations.sorted()
    }

    /// A read of a cancelled task finds what is kept or fails as cancelled. Where nothing is lost, no loss is named.
    func cancelledReadViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let keys = (0..<4).map { RecordKey(["read", String($0)]) }
        try await store.commit(keys.map { .keep(StoredRecord([1]), $0) })
        var violations: Set<String> = []
        for round in 0..<32 {
            let record = await ending(ofCancelled: round % 16) { () async throws(RecordStoreError) in
                try await store.record(for: keys[0]) == StoredRecord([1])
            }
            let list = await ending(ofCancelled: round % 16) { () async throws(RecordStoreError) in
                try await store.records(under: ["read"]).map(\.key) == keys
            }
            let losses = await ending(ofCancelled: round % 16) { () async throws(RecordStoreError) in
                try await store.losses(under: ["read"]).keys.isEmpty
            }
            for (name, ending) in [("A record", record), ("A list", list), ("A list of losses", losses)] {
                violations.formUnion(Self.violations(of: name, ending))
            }
        }
        return violations.sorted()
    }

    /// A cancelled read of losses names those that there are or fails as cancelled.
    func cancelledLossViolations(
        _ store: any RecordStore,
        under key: RecordKey,
        losing keys: [RecordKey]
    ) async -> [String] {
        var violations: Set<String> = []
        for turns in 0..<16 {
            let losses = await ending(ofCancelled: turns) { () async throws(RecordStoreError) in
                try await store.losses(under: key).keys == keys
            }
            violations.formUnion(Self.violations(of: "A list of losses", losses))
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

    /// The result of work whose task is cancelled after a number of yields; with zero, before the work begins.
    private func ending(
        ofCancelled turns: Int,
        _ work: @escaping @Sendable () async throws(RecordStoreError) -> Bool
    ) async -> Result<Bool, RecordStoreError> {
        await withTaskGroup { group in
            group.addTask { () -> Result<Bool, RecordStoreError> in
                if turns == 0 { while !Task.isCancelled { await Task.yield() } }
                return await Result(awaiting: work)
            }
            for _ in 0..<turns { await Task.yield() }
            group.cancelAll()
            return await group.next() ?? .success(true)
        }
    }
}
