import InwardTransfers

extension DataSaverConformance {
    /// If two drafts are written at the same time, each is published as written or refused.
    func rivalViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        let old: [UInt8] = [9]
        try await saver.save(old)
        var rivals: [Rival] = []
        for number: UInt8 in [1, 2] {
            do {
                rivals.append(Rival(try await saver.openDraft(), of: number))
            } catch {
                // A saver may refuse a second draft.
                if rivals.isEmpty { throw error }
            }
        }
        for index in rivals.indices { await rivals[index].begin() }
        for _ in 0..<3 {
            for index in rivals.indices { await rivals[index].append() }
        }
        var violations: [String] = []
        var allowed = [old]
        for index in rivals.indices {
            if await rivals[index].publish() {
                allowed = [rivals[index].written]
            } else {
                allowed.append(rivals[index].written)
            }
            if await !allowed.contains(seen() ?? []) {
                violations.append("Of two concurrent drafts, each must be published as written, but is not.")
            }
        }
        return violations
    }

    /// A save while a draft is being written is not mixed with the draft.
    func savedMeanwhileViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        var rival = Rival(try await saver.openDraft(), of: 1)
        await rival.begin()
        await rival.append()
        let meanwhile = [UInt8](repeating: 2, count: 70_000)
        var violations: [String] = []
        // A saver may refuse to save while a draft is open.
        if (try? await saver.save(meanwhile)) != nil, await seen() != meanwhile {
            violations.append("Data saved while a draft is open must be visible, but is not.")
        }
        await rival.append()
        if await rival.publish(), await seen() != rival.written {
            violations.append(
                "A draft must be published as written even if other data was saved meanwhile, but is not."
            )
        }
        return violations
    }

    /// A save that is cancelled in progress becomes visible completely or not at all.
    func givenUpViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        var old: [UInt8] = [9]
        try await saver.save(old)
        // Cancels before the save begins, and then after more and more turns.
        for (round, turns) in ([0] + (0...10).map { 1 << $0 }).enumerated() {
            let new = [UInt8](repeating: UInt8(round), count: 300_000)
            let ended = EventCount()
            await withTaskGroup { group in
                group.addTask {
                    defer { ended.increase() }
                    try? await saver.save(new)
                }
                for _ in 0..<turns where ended.value == 0 { await Task.yield() }
                group.cancelAll()
            }
            let now = await seen() ?? []
            guard now == old || now == new else {
                return [
                    "A save that is cancelled in progress must take effect completely or not at all, but is visible in part."
                ]
            }
            old = now
        }
        return []
    }

    /// While a save is in progress, a reader sees either the complete old version or the complete new one.
    ///
    /// The writer continues until the reader has read between its saves.
    func tearingViolations(_ saver: any DataSaver) async throws(DataSaverError) -> [String] {
        let versions = (0..<8).map { [UInt8](repeating: $0, count: 80_000 + Int($0)) }
        // Every other version is published through a draft. Its checksum is computed here once, however often it is written.
        let parts = versions.enumerated().map { $0 % 2 == 0 ? nil : SavedPart(nameless: $1) }
        try await saver.save(versions[0])
        let ended = EventCount()
        let progress = ReaderProgress(readers: 1)
        return await withTaskGroup(of: [String].self) { group in
            group.addTask {
                defer { ended.increase() }
                do throws(DataSaverError) {
                    var round = 0
                    while progress.needsRound(round, ofAtLeast: versions.count) {
                        let bytes = versions[round % versions.count]
                        if let part = parts[round % versions.count] {
                            try await publish(bytes, reaching: part, by: saver)
                        } else {
                            try await saver.save(bytes)
                        }
                        await progress.write()
                        round += 1
                    }
                    return []
                } catch {
                    return ["The saver must not fail, but did: \(error)"]
                }
            }
            group.addTask {
                defer { progress.end(0) }
                while ended.value == 0 {
                    if await !versions.contains(seen() ?? []) {
                        return ["Readers must see complete data while other data is saved, but do not."]
                    }
                    progress.read(by: 0)
                    await Task.yield()
                }
                return []
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// A draft refuses bytes after its task is cancelled.
    func appendingViolations(_ saver: any DataSaver) async -> [String] {
        await withTaskGroup(of: [String].self) { group in
            let begun = EventCount()
            group.addTask {
                do {
                    var draft = try await saver.openDraft()
                    try await draft.begin()
                    begun.increase()
                    while !Task.isCancelled { await Task.yield() }
                    var part = SavedPart(source: nil, validator: nil, steps: nil)
                    part.add([1])
                    let isTaken = (try? await draft.append([1], reaching: part)) != nil
                    await draft.leave()
                    return isTaken ? ["A draft of a cancelled task must refuse bytes, but accepts them."] : []
                } catch {
                    begun.increase()
                    return ["The saver must not fail, but did: \(error)"]
                }
            }
            while begun.value == 0 { await Task.yield() }
            group.cancelAll()
            return await group.next() ?? []
        }
    }

    private func publish(
        _ bytes: [UInt8],
        reaching part: SavedPart,
        by saver: any DataSaver
    ) async throws(DataSaverError) {
        var draft = try await saver.openDraft()
        try await draft.begin()
        try await draft.append(bytes, reaching: part)
        try await draft.publish(Checksum(value: part.checksum))
    }
}

extension SavedPart {
    /// The state of a transfer that cannot be resumed, after these bytes.
    fileprivate init(nameless bytes: [UInt8]) {
        self.init(source: nil, validator: nil, steps: nil)
        add(bytes)
    }
}

/// One of two drafts that are written at the same time. It is abandoned if a step fails.
private struct Rival {
    private var draft: any DataDraft
    private let number: UInt8
    private var part = SavedPart(source: nil, validator: nil, steps: nil)
    private var hasFailed = false
    private(set) var written: [UInt8] = []

    init(_ draft: any DataDraft, of number: UInt8) {
        self.draft = draft
        self.number = number
    }

    mutating func begin() async {
        do { try await draft.begin() } catch { hasFailed = true }
    }

    mutating func append() async {
        let bytes = [UInt8](repeating: number, count: 50_000)
        written += bytes
        part.add(bytes)
        guard !hasFailed else { return }
        do { try await draft.append(bytes, reaching: part) } catch { hasFailed = true }
    }

    mutating func publish() async -> Bool {
        if !hasFailed, (try? await draft.publish(Checksum(value: part.checksum))) != nil { return true }
        await draft.leave()
        return false
    }
}
