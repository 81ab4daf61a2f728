import InwardCore
import InwardImageServing

extension EncodedImageStoreConformance {
    private static let rounds = 4
    /// Several times the same, because a store may drop an image at any time, but not each time.
    private static let orders = [CancellationMoment.Order](repeating: .alone, count: 3)

    /// Concurrent inserts for a key leave one of their images, and do not affect other keys.
    func concurrencyViolations(_ store: any EncodedImageStore) async throws(EncodedImageStoreError) -> [String] {
        let images = (0..<8).map { image($0, byteCount: 70_000 + $0) }
        var violations: Set<String> = []
        // The tasks take turns whenever one of them waits, and then run on as many threads as there are.
        for takesTurns in [true, false] {
            var keptCount = 0
            for round in 0..<Self.rounds {
                let name = "\(takesTurns) \(round)"
                let queue: (any TaskExecutor)? = takesTurns ? TurnQueue() : nil
                let found = await withTaskExecutorPreference(queue) {
                    await withTaskGroup(of: [String].self) { group in
                        for number in images.indices {
                            group.addTask { await insertionViolations(store, name, images, number) }
                        }
                        return await group.reduce(into: []) { $0 += $1 }
                    }
                }
                violations.formUnion(found)
                guard let last = try await store.image(for: Self.key(name)) else { continue }
                keptCount += 1
                if !images.contains(last) { violations.insert(Self.mixedMessage) }
            }
            if keptCount == 0 {
                violations.insert("Concurrent inserts for a key must leave one of their images, but leave none.")
            }
        }
        return violations.sorted()
    }

    /// Inserts an image for a key that other tasks use, and for a key of its own.
    private func insertionViolations(
        _ store: any EncodedImageStore,
        _ name: String,
        _ images: [StoredImage],
        _ number: Int
    ) async -> [String] {
        do throws(EncodedImageStoreError) {
            let shared = Self.key(name)
            try await store.insert(images[number], for: shared)
            if let found = try await store.image(for: shared), !images.contains(found) { return [Self.mixedMessage] }
            let own = Self.key("\(name) \(number)")
            try await store.insert(images[number], for: own)
            if let found = try await store.image(for: own), found != images[number] {
                return ["Concurrent inserts for different keys must not affect each other, but do."]
            }
            return []
        } catch {
            return ["The store must not fail under concurrent use, but did: \(error)"]
        }
    }

    private static var mixedMessage: String {
        "Concurrent inserts for a key must leave one of their images as it was inserted, but do not."
    }

    /// A cancelled insert leaves the old image or the new one, and the new one if it succeeds.
    func cancelledInsertViolations(
        _ store: any EncodedImageStore
    ) async throws(EncodedImageStoreError) -> [String] {
        let (old, new) = (image(1), image(2, byteCount: 70_000))
        let key = Self.key("cancelled insert")
        var violations: Set<String> = []
        var failureCount = 0
        var lossCount = 0
        try await CancellationSweep.run(Self.orders) { _, moment throws(EncodedImageStoreError) in
            try await store.insert(old, for: key)
            let wasThere = try await store.image(for: key) == old
            let (ending, _) = await moment.result {
                await Result(awaiting: { () async throws(EncodedImageStoreError) in
                    try await store.insert(new, for: key)
                })
            } beside: {
            }
            let found = try await store.image(for: key)
            if let found, found != old, found != new {
                violations.insert("A cancelled insert must leave the old image or the new one, but leaves another.")
            }
            switch ending {
            case .success:
                if found == old {
                    violations.insert("A cancelled insert that succeeds must take effect, but does not.")
                }
                return true
            case .failure:
                if wasThere { failureCount += 1 }
                if wasThere, found == nil { lossCount += 1 }
                return false
            }
        }
        if failureCount > 1, lossCount == failureCount {
            violations.insert("A cancelled insert must leave the old image or the new one, but leaves none.")
        }
        return violations.sorted()
    }

    /// A cancelled read returns the image as it was inserted, if it returns one.
    func cancelledReadViolations(_ store: any EncodedImageStore) async throws(EncodedImageStoreError) -> [String] {
        let image = image(1, byteCount: 70_000)
        let key = Self.key("cancelled read")
        var violations: Set<String> = []
        try await CancellationSweep.run([.alone]) { _, moment throws(EncodedImageStoreError) in
            try await store.insert(image, for: key)
            let (ending, _) = await moment.result {
                await Result(awaiting: { () async throws(EncodedImageStoreError) in
                    try await store.image(for: key)
                })
            } beside: {
            }
            guard case .success(let found) = ending else { return false }
            if let found, found != image {
                violations.insert("An image that a cancelled task reads must be as it was inserted, but is not.")
            }
            return true
        }
        return violations.sorted()
    }

    /// A cancelled removal leaves the old image or none, and none if it succeeds.
    func cancelledRemovalViolations(
        _ store: any EncodedImageStore
    ) async throws(EncodedImageStoreError) -> [String] {
        let old = image(1)
        let key = Self.key("cancelled removal")
        var violations: Set<String> = []
        for removesAll in [false, true] {
            try await CancellationSweep.run([.alone]) { _, moment throws(EncodedImageStoreError) in
                try await store.insert(old, for: key)
                let (ending, _) = await moment.result {
                    await Result(awaiting: { () async throws(EncodedImageStoreError) in
                        if removesAll {
                            try await store.removeImages(from: key.address)
                        } else {
                            try await store.removeImage(for: key)
                        }
                    })
                } beside: {
                }
                let found = try await store.image(for: key)
                if let found, found != old {
                    violations.insert("A cancelled removal must leave the old image or none, but leaves another.")
                }
                guard case .success = ending else { return false }
                if found == old {
                    violations.insert("A cancelled removal that succeeds must take effect, but does not.")
                }
                return true
            }
        }
        return violations.sorted()
    }
}
