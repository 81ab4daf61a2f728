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

/// The claims on a store's keys. Each claim is a locked file in the directory `claims`, which contains the name of its owner.
///
/// When the owner's process ends, even if it is killed, the system unlocks the file. Claiming a key never waits for its owner.
package final class RecordClaims: Sendable {
    private static let directoryName = "claims"
    /// The number of key bytes per path component. A component is limited to 255 bytes, and each byte of a key takes two.
    private static let chunkLength = 100
    /// The number of bytes that are read to identify the owner.
    private static let ownerLength = 512

    private let store: RecordDirectory
    private let now: @Sendable () -> Date
    private let queue = DispatchQueue(label: "inward.record-store.claims")

    /// Creates the claims of a store's directory.
    package init(_ store: RecordDirectory, now: @escaping @Sendable () -> Date) {
        self.store = store
        self.now = now
    }

    /// Claims a key, or returns its current owner.
    ///
    /// - Throws: A `RecordStoreError` if the file cannot be locked, or if the task was cancelled before the call.
    package func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        guard !Task.isCancelled else {
            throw RecordStoreError(.cancelled, explanation: "The task was cancelled before the key was claimed.")
        }
        return try await performed { Result { () throws(RecordStoreError) in try self.lock(key) } }.get()
    }

    /// Runs a closure on a thread that may block on the disk.
    private func performed<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
        // Resumed exactly once, because the queue runs the closure once.
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
            // Between opening and locking, the previous owner may have removed the file, and another process may have created
            // and locked a new one.
            guard try directory.status(of: name)?.identity == file.status().identity else { continue }
            sign(file)
            return .claimed(
                // Closing the file unlocks it, so dropping a claim also releases it.
                RecordClaim { [self] in
                    await performed {
                        // If the file cannot be removed, it does no harm: only its lock counts.
                        try? FileManager.default.removeItem(atPath: directory.path(of: name))
                        file.close()
                    }
                }
            )
        }
    }

    /// Writes the owner into the file. If this fails, for example because the disk is full, other processes see an unnamed owner.
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

    /// Returns the location of a key's file. The name is in hexadecimal, so distinct keys never share a file, no matter how the
    /// file system treats names.
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
        // `unsafe`: The array outlives the call, which writes at most the given number of bytes.
        let status = unsafe gethostname(&bytes, bytes.count - 1)
        guard status == 0 else { return "an unknown host" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The write lock of a store, shared by all processes and by all stores within a process.
///
/// The system releases the lock when the process ends for any reason.
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
        // If unlocking fails, closing the file unlocks it.
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
                // A lock on a removed file has no effect, because another process may have locked a new file of that name.
                if try directory.status(of: RecordDirectory.lock)?.identity == file.status().identity {
                    return file
                }
            } catch {
                // Closing the file unlocks it. Otherwise, no process could acquire the lock again, including this one.
                self.file = nil
                throw error
            }
            self.file = nil
        }
    }
}
