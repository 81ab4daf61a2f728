import InwardCore
public import InwardTransfers

/// A check of the requirements for every data loader.
///
/// Pass the bytes that the loader loads, preferably enough for several chunks. Run the check in a test of any framework:
///
/// ```swift
/// let bytes: [UInt8] = Array(0..<100)
/// try await DataLoaderConformance(bytes).check(InMemoryDataLoader(bytes))
/// ```
///
/// The data must not change during the check, except in ``checkReplacement(of:with:_:)``. A loader that crashes ends the test
/// process.
public struct DataLoaderConformance: Sendable {
    private let bytes: [UInt8]

    /// Creates a check of loaders that load the given bytes.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Checks a loader.
    ///
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func check(_ loader: any DataLoader) async throws(ConformanceFailure) {
        var violations: [String] = []
        let source = loader.source
        do {
            let first = try await loader.chunk(at: 0, of: nil)
            for offset in Set([0, 1, bytes.count / 2, bytes.count - 1, bytes.count])
            where (0...bytes.count).contains(offset) {
                violations += try await chunkViolations(loader, at: offset, of: first.validator)
            }
            violations += try await orderViolations(loader)
            violations += await concurrencyViolations(loader, of: first.validator)
            if let validator = first.validator {
                if try await !loader.stillHas(validator) {
                    violations.append("`stillHas` must return true while the source is unchanged, but returned false.")
                }
                if try await loader.stillHas("\(validator)x") {
                    violations.append("`stillHas` must return false for an unknown version, but returned true.")
                }
                for offset in [0, bytes.count / 2] {
                    // A chunk of another version may begin at any offset.
                    if try await loader.chunk(at: offset, of: "\(validator)x").validator != validator {
                        violations.append("A chunk must have its own version, but has the requested one.")
                    }
                }
            }
        } catch {
            violations.append("The loader must not fail, but did: \(error)")
        }
        violations += await cancellationViolations(loader)
        violations += await interruptionViolations(loader)
        if loader.source != source { violations.append("The name of a source must not change, but did.") }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// Checks that a loader detects when its data is replaced.
    ///
    /// - Parameters:
    ///   - loader: The loader to check.
    ///   - other: The new bytes, which must differ from the first ones. Pass fewer bytes if you can, so that the check also
    ///     resumes at an offset past the new end.
    ///   - replace: Replaces the first bytes with the new ones.
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func checkReplacement(
        of loader: any DataLoader,
        with other: [UInt8],
        _ replace: () async throws -> Void
    ) async throws(ConformanceFailure) {
        guard other != bytes else {
            throw ConformanceFailure(violations: [
                "The replacement must differ from the original bytes. Pass other bytes."
            ])
        }
        var violations: [String] = []
        do {
            let source = loader.source
            let old = try await loader.chunk(at: 0, of: nil).validator
            try await replace()
            let next = DataLoaderConformance(other)
            // A transfer in progress continues at its old offset, which may be past the end of the new version.
            for offset in [bytes.count / 2, bytes.count] where old != nil {
                let loaded = try await loader.chunk(at: offset, of: old)
                if loaded.validator == old {
                    violations.append(
                        "A chunk loaded after the replacement must have a new version, but has the old one."
                    )
                } else {
                    violations += next.contentViolations(loaded, "The chunk at \(offset) after the replacement")
                }
            }
            let new = try await loader.chunk(at: 0, of: old).validator
            if let old {
                if new == old {
                    violations.append("A replaced source must have a new version, but has the old one.")
                }
                if try await loader.stillHas(old) {
                    violations.append("`stillHas` must return false for the replaced version, but returned true.")
                }
            }
            for offset in [0, other.count] { violations += try await next.chunkViolations(loader, at: offset, of: new) }
            violations += try await next.orderViolations(loader)
            if loader.source != source { violations.append("The name of a source must not change, but did.") }
        } catch {
            violations.append("The loader must not fail, but did: \(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// Concurrent loads at different offsets each get the right chunk.
    private func concurrencyViolations(_ loader: any DataLoader, of validator: String?) async -> [String] {
        let found = await withTaskGroup(of: [String].self) { group in
            for caller in 0..<8 {
                group.addTask {
                    var violations: [String] = []
                    for round in 0..<8 {
                        let offset = (caller * 5 + round * 3) % (bytes.count + 1)
                        do {
                            violations += try await chunkViolations(loader, at: offset, of: validator)
                        } catch {
                            violations.append("The loader must not fail, but did: \(error)")
                        }
                        await Task.yield()
                    }
                    return violations
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        return Set(found).sorted().map { "Concurrently: \($0)" }
    }

    private func chunkViolations(
        _ loader: any DataLoader,
        at offset: Int,
        of validator: String?
    ) async throws(DataLoaderError) -> [String] {
        let loaded = try await loader.chunk(at: offset, of: validator)
        let (chunk, name) = (loaded.chunk, "The chunk at \(offset) of \(bytes.count)")
        var violations: [String] = []
        if loaded.validator != validator { violations.append("\(name) must have the requested version, but does not.") }
        let end = chunk.offset + chunk.bytes.count
        guard chunk.offset <= offset, end >= offset else {
            return violations + ["\(name) must include its offset, but covers \(chunk.offset) to \(end)."]
        }
        if end == offset, !chunk.isLast { violations.append("\(name) must contain at least one byte, but is empty.") }
        return violations + contentViolations(loaded, name)
    }

    /// Returns what is wrong with a chunk, wherever it begins.
    private func contentViolations(_ loaded: LoadedChunk, _ name: String) -> [String] {
        let chunk = loaded.chunk
        var violations: [String] = []
        let end = chunk.offset + chunk.bytes.count
        guard chunk.offset >= 0, end <= bytes.count else {
            return ["\(name) must lie within the source, but covers \(chunk.offset) to \(end)."]
        }
        if chunk.bytes != Array(bytes[chunk.offset..<end]) {
            violations.append("\(name) must contain the right bytes, but does not.")
        }
        if chunk.isLast != (end == bytes.count) {
            violations.append("\(name) must report correctly whether it is the last, but does not.")
        }
        if let total = loaded.totalByteCount, total != bytes.count {
            violations.append("\(name) must report the total byte count correctly, but reports \(total).")
        }
        if loaded.validator == nil, chunk.offset > 0 || !chunk.isLast {
            violations.append("\(name) must contain the complete data because it has no version, but does not.")
        }
        return violations
    }

    /// Returns what is wrong with all chunks in sequence.
    private func orderViolations(_ loader: any DataLoader) async throws(DataLoaderError) -> [String] {
        var loaded: [UInt8] = []
        var validator: String?
        // No loader needs more chunks than there are bytes.
        for _ in 0...bytes.count {
            let next = try await loader.chunk(at: loaded.count, of: validator)
            guard next.chunk.offset <= loaded.count else { break }
            loaded += next.chunk.bytes.dropFirst(loaded.count - next.chunk.offset)
            validator = next.validator
            if next.chunk.isLast { break }
        }
        return loaded == bytes ? [] : ["All chunks together must form the complete data, but do not."]
    }

    /// A task that is cancelled during a load gets the right bytes or an error.
    private func interruptionViolations(_ loader: any DataLoader) async -> [String] {
        var violations: Set<String> = []
        await CancellationSweep.run([.alone]) { _, moment in
            let (ending, _) = await moment.result {
                await Result(awaiting: { () async throws(DataLoaderError) in try await loader.chunk(at: 0, of: nil) })
            } beside: {
            }
            guard case .success(let loaded) = ending else { return false }
            violations.formUnion(contentViolations(loaded, "A chunk loaded by a cancelled task"))
            return true
        }
        return violations.sorted()
    }

    private func cancellationViolations(_ loader: any DataLoader) async -> [String] {
        await withTaskGroup(of: [String].self) { group in
            group.cancelAll()
            group.addTask {
                do {
                    _ = try await loader.chunk(at: 0, of: nil)
                    return ["A cancelled load must fail, but returned a chunk."]
                } catch {
                    return []
                }
            }
            return await group.next() ?? []
        }
    }
}
