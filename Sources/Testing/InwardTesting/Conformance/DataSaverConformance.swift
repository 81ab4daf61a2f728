public import InwardTransfers

/// A check of the requirements for every data saver.
///
/// Pass a closure that reads the data that was saved last. Run the check in a test of any framework:
///
/// ```swift
/// let saver = InMemoryDataSaver()
/// try await DataSaverConformance { saver.saved }.check(saver)
/// ```
///
/// A saver that crashes ends the test process.
public struct DataSaverConformance: Sendable {
    let seen: @Sendable () async -> [UInt8]?

    /// Creates a check.
    ///
    /// - Parameter seen: Returns the data at the saver's target as readers see it, or `nil` if there is none.
    public init(_ seen: @escaping @Sendable () async -> [UInt8]?) {
        self.seen = seen
    }

    /// Checks a saver. The check overwrites the saver's target.
    ///
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func check(_ saver: any DataSaver) async throws(ConformanceFailure) {
        var violations: [String] = []
        for check in [
            wholeViolations, draftViolations, secondBeginningViolations, deceivedViolations, resumptionViolations,
            rivalViolations, savedMeanwhileViolations, namelessViolations, tearingViolations, givenUpViolations,
        ] {
            do throws(DataSaverError) {
                violations += try await check(saver)
            } catch {
                violations.append("The saver must not fail, but did: \(error)")
            }
        }
        violations += await cancellationViolations(saver)
        violations += await appendingViolations(saver)
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    private func wholeViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        for bytes: [UInt8] in [[1, 2, 3], [], [4]] {
            try await saver.save(bytes)
            if await seen() != bytes { return ["Saved data must be visible, but is not."] }
        }
        return []
    }

    private func draftViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        try await saver.save([9])
        var violations: [String] = []
        for chunks: [[UInt8]] in [[[1, 2], [], [3]], [[]], [[UInt8](repeating: 7, count: 100_000), [8]]] {
            let before = await seen()
            var draft = try await saver.openDraft()
            try await draft.begin()
            var part = SavedPart.conformance
            for bytes in chunks {
                part.add(bytes)
                try await draft.append(bytes, reaching: part)
            }
            if await seen() != before {
                violations.append("A draft must not be visible before it is published, but is.")
            }
            try await draft.publish(Checksum(value: part.checksum))
            if await seen() != chunks.flatMap(\.self) {
                violations.append("A published draft must be visible, but is not.")
            }
        }
        return violations
    }

    /// A draft starts over if its source changes during the transfer, after a few bytes or after many.
    ///
    /// Each round ends with different bytes, so that the result of the previous round is not mistaken for this one's.
    private func secondBeginningViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        for (first, last): ([UInt8], [UInt8]) in [([1, 2], [3]), ([UInt8](repeating: 7, count: 100_000), [4])] {
            var draft = try await saver.openDraft()
            for bytes in [first, last] {
                try await draft.begin()
                var part = SavedPart.conformance
                part.add(bytes)
                try await draft.append(bytes, reaching: part)
            }
            do throws(DataSaverError) {
                try await draft.publish(Checksum(of: last.span))
            } catch {
                await draft.leave()
            }
            if await seen() != last {
                return ["A draft that begins again must discard its earlier bytes, but keeps them."]
            }
        }
        return []
    }

    private func deceivedViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        try await saver.save([9])
        var draft = try await saver.openDraft()
        try await draft.begin()
        var part = SavedPart.conformance
        part.add([1, 2, 3])
        try await draft.append([1, 2, 4], reaching: part)
        do throws(DataSaverError) {
            try await draft.publish(Checksum(value: part.checksum))
        } catch {
            await draft.leave()
            return await seen() == [9] ? [] : ["A draft with the wrong checksum must not replace anything, but does."]
        }
        return ["A draft with the wrong checksum must be refused, but is accepted."]
    }

    private func resumptionViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        try await saver.save([9])
        let chunks: [[UInt8]] = (0..<8).map { [UInt8](repeating: $0, count: 50_000) }
        let all = chunks.flatMap(\.self)
        var parts: [SavedPart] = []
        var draft = try await saver.openDraft()
        try await draft.begin()
        for bytes in chunks.prefix(6) {
            var part = parts.last ?? .conformance
            part.add(bytes)
            parts.append(part)
            try await draft.append(bytes, reaching: part)
        }
        await draft.leave()
        var violations: [String] = []
        if await seen() != [9] { violations.append("An unfinished draft must not replace anything, but does.") }
        var next = try await saver.openDraft()
        var part = SavedPart.conformance
        if let saved = next.saved {
            if !parts.contains(saved) {
                violations.append("A resumed draft must report the part that was reached, but does not.")
            }
            part = saved
        } else {
            try await next.begin()
        }
        let rest = Array(all.dropFirst(part.savedByteCount))
        part.add(rest)
        try await next.append(rest, reaching: part)
        try await next.publish(Checksum(value: part.checksum))
        if await seen() != all {
            violations.append("A draft that resumes another must publish the complete data, but does not.")
        }
        let last = try await saver.openDraft()
        if last.saved != nil { violations.append("A published draft must leave no part behind, but does.") }
        var closing = last
        await closing.leave()
        return violations
    }

    private func namelessViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        var draft = try await saver.openDraft()
        try await draft.begin()
        var part = SavedPart(source: nil, validator: nil, steps: nil)
        let bytes = [UInt8](repeating: 1, count: 50_000)
        part.add(bytes)
        try await draft.append(bytes, reaching: part)
        await draft.leave()
        var next = try await saver.openDraft()
        let isFound = next.saved != nil
        await next.leave()
        return isFound ? ["A draft that cannot be resumed must not be offered for resumption, but is."] : []
    }

    private func cancellationViolations(_ saver: any DataSaver) async -> [String] {
        await withTaskGroup(of: [String].self) { group in
            group.cancelAll()
            group.addTask {
                do throws(DataSaverError) {
                    try await saver.save([0])
                    return ["A cancelled save must fail, but did not."]
                } catch {
                    return []
                }
            }
            return await group.next() ?? []
        }
    }
}

extension SavedPart {
    /// An empty part of a resumable source.
    fileprivate static var conformance: SavedPart { SavedPart(source: "The conformance", validator: "1", steps: []) }

    mutating func add(_ bytes: [UInt8]) {
        var checksum = Checksum(value: checksum)
        checksum.update(with: bytes.span)
        self.checksum = checksum.value
        loadedByteCount += bytes.count
        savedByteCount += bytes.count
    }
}
