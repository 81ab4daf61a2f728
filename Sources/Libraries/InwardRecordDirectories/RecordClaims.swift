import Dispatch
package import Foundation
import InwardCore
package import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The claims on the keys of a store: a locked file for each, in the directory `claims`, which says who owns the key.
///
/// The system unlocks the file when its owner ends, even if the owner is killed. A claim never blocks a thread: if the file is
/// locked, the caller learns that at once.
package final class RecordClaims: Sendable {
    private static let directoryName = "claims"
    /// Names of files have at most 255 bytes, and a byte of a key takes two.
    private static let chunkLength = 100
    /// How much of a file is read to learn who owns it.
    private static let ownerLength = 512

    private let store: RecordDirectory
    private let now: @Sendable () -> Date
    private let queue = DispatchQueue(label: "inward.record-store.claims")

    /// Makes the claims of the store in a directory.
    package init(_ store: RecordDirectory, now: @escaping @Sendable () -> Date) {
        self.store = store
        self.now = now
    }

    /// Tries to claim a key.
    ///
    /// - Throws: a `RecordStoreError` if the file cannot be locked, or the task was cancelled beforehand.
    package func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        guard !Task.isCancelled else {
            throw RecordStoreError(.cancelled, explanation: "The task was cancelled before the key was claimed.")
        }
        return try await performed { Result { () throws(RecordStoreError) in try self.lock(key) } }.get()
    }

    /// Does something on a thread that may wait for a disk.
    private func performed<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
        // Resumed exactly once: where the queue does the work, which it does once.
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    private func lock(_ key: RecordKey) throws(RecordStoreError) -> RecordClaimResult {
        let (directory, name) = place(of: key)
        while true {
            try directory.make()
            let file = try directory.open(name, O_RDWR | O_CREAT)
            guard try file.lockAtOnce() else { return .owned(by: owner(in: file)) }
            // An earlier owner may have removed the file between the two steps. Somebody else may have locked the next one.
            guard try directory.status(of: name)?.identity == file.status().identity else { continue }
            sign(file)
            return .claimed(
                // Closing the file unlocks it, so a claim that is dropped is released, too.
                RecordClaim { [self] in
                    await performed {
                        // A file that stays does no harm.
                        try? FileManager.default.removeItem(atPath: directory.path(of: name))
                        file.close()
                    }
                }
            )
        }
    }

    /// Writes into a file who owns it. Where that fails, for want of room, the owner is unknown to others.
    private func sign(_ file: RecordFile) {
        let process = ProcessInfo.processInfo
        let owner =
            "process \(process.processIdentifier) (\(process.processName)) on \(Self.hostName) since \(now().formatted(.iso8601))"
        do throws(RecordStoreError) {
            try file.truncate(to: 0)
            try file.write(Array(owner.utf8.prefix(Self.ownerLength)), at: 0)
        } catch {}
    }

    private func owner(in file: RecordFile) -> String {
        let bytes = (try? file.read(at: 0, count: Self.ownerLength)) ?? []
        return bytes.isEmpty ? "another process" : String(decoding: bytes, as: UTF8.self).visible
    }

    /// Where the file of a key is: in hexadecimal digits, so that no two keys share one, whatever the file system makes of names.
    private func place(of key: RecordKey) -> (directory: RecordDirectory, name: String) {
        let bytes = key.encoded
        var url = store.url.appending(path: Self.directoryName, directoryHint: .isDirectory)
        var rest = bytes[...]
        while rest.count > Self.chunkLength {
            url.append(path: Self.digits(rest.prefix(Self.chunkLength)), directoryHint: .isDirectory)
            rest = rest.dropFirst(Self.chunkLength)
        }
        return (RecordDirectory(url: url, faults: store.faults), "\(Self.digits(rest)).lock")
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    private static var hostName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        // `unsafe`: the array outlives the call, which writes at most as many bytes as it is told.
        let status = unsafe gethostname(&bytes, bytes.count - 1)
        guard status == 0 else { return "an unknown host" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Who changes the files of a store, among all processes and all stores of this one.
///
/// The system gives the lock back for a process that ends, however it does.
package struct RecordLock: Sendable {
    private let directory: RecordDirectory
    private var file: RecordFile?

    package init(_ directory: RecordDirectory) {
        self.directory = directory
    }

    /// Runs a closure while holding the lock. Blocks until the lock is free.
    package mutating func holding<Answer>(
        _ body: () throws(RecordStoreError) -> Answer
    ) throws(RecordStoreError) -> Answer {
        let file = try acquire()
        // Where it is not given back the file is closed, which does the same.
        defer { do { try file.lock(false) } catch { self.file = nil } }
        return try body()
    }

    private mutating func acquire() throws(RecordStoreError) -> RecordFile {
        while true {
            let file: RecordFile
            if let known = self.file {
                file = known
            } else {
                try directory.make()
                file = try directory.open(RecordDirectory.lock, O_RDWR | O_CREAT)
                self.file = file
            }
            try file.lock(true)
            do {
                // The lock of a removed file excludes nobody: another process may have locked the new file of that name.
                if try directory.status(of: RecordDirectory.lock)?.identity == file.status().identity {
                    return file
                }
            } catch {
                // Closing the file unlocks it. Otherwise no process could lock it again, this one included.
                self.file = nil
                throw error
            }
            self.file = nil
        }
    }
}
