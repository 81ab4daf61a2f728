package import Foundation
package import InwardRepositories
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
package import Musl
#else
package import Darwin
#endif

/// An open file of a store.
package final class RecordFile: Sendable {
    /// The identity of a file, independent of its name. It is unique while the file is open.
    package struct Identity: Equatable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    /// The smallest part of a file that a disk may fail to read.
    private static let sectorLength = 4_096
    /// The number of attempts to read a part that the disk cannot read.
    private static let readingLimit = 3

    private let name: String
    private let path: String
    private let faults: RecordFileFault.Source
    private let isDamaged = Atomic(false)
    private let isOpen = Atomic(true)
    private let handle: FileHandle

    /// Opens a file with the system's flags. By default, only the owner can access a new file.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - directory: The open directory that contains the file, or `nil` to open it by its path.
    ///   - path: The path of the file.
    ///   - flags: The flags for `open`.
    ///   - permissions: The permissions of a new file.
    ///   - faults: The failures to inject.
    /// - Throws: A `RecordStoreError` if the file cannot be opened.
    package init(
        _ name: String,
        in directory: FileHandle? = nil,
        path: String,
        flags: Int32,
        permissions: mode_t = 0o600,
        faults: @escaping RecordFileFault.Source
    ) throws(RecordStoreError) {
        let descriptor: Int32
        do throws(SystemError) {
            descriptor = try RecordFileStep.open(name).perform(faults) {
                // `unsafe`: The string outlives the call, which does not keep the pointer.
                unsafe openat(
                    directory?.fileDescriptor ?? AT_FDCWD,
                    directory == nil ? path : name,
                    flags | O_NOFOLLOW | O_CLOEXEC,
                    permissions
                )
            }
        } catch {
            throw RecordStoreError(code: error.code, path: path, "opened")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        self.name = name
        self.path = path
        self.faults = faults
    }

    deinit { close() }

    /// Makes the file readable and writable for its owner only. The `umask` may have given a new file fewer permissions, and an
    /// existing file may have more, for example after it was copied.
    package func makePrivate() throws(RecordStoreError) {
        let status = try systemStatus()
        guard status.st_mode & 0o777 != 0o600 else { return }
        _ = try perform(.setMode(name), "made private") { fchmod(handle.fileDescriptor, 0o600) }
    }

    /// Returns the identity and the size of the file.
    package func status() throws(RecordStoreError) -> (identity: Identity, size: Int) {
        let status = try systemStatus()
        return (Identity(status), Int(status.st_size))
    }

    private func systemStatus() throws(RecordStoreError) -> stat {
        var status = stat()
        _ = try perform(.status(name), "read") {
            // `unsafe`: The call writes one `stat` into the variable whose address it gets.
            unsafe fstat(handle.fileDescriptor, &status)
        }
        return status
    }

    /// Reads up to the given number of bytes, starting at an offset. The result is shorter at the end of the file.
    package func read(at offset: Int, count: Int) throws(RecordStoreError) -> [UInt8] {
        do { return try bytes(at: offset, count: count) } catch { throw failure(error, "read") }
    }

    /// Reads up to the given number of bytes, starting at an offset, with zeros in place of sectors that the disk cannot read.
    ///
    /// A sector counts as unreadable after three attempts. Callers detect the zeros with their checksums.
    package func readable(at offset: Int, count: Int) throws(RecordStoreError) -> [UInt8] {
        do { return try bytes(at: offset, count: count) } catch {
            guard error.code == EIO else { throw failure(error, "read") }
        }
        // Reads by sector, so that the neighbors of an unreadable sector are not lost.
        let end = min(offset + count, try status().size)
        var bytes: [UInt8] = []
        while offset + bytes.count < end {
            let start = offset + bytes.count
            let length = min(end, (start / Self.sectorLength + 1) * Self.sectorLength) - start
            bytes += try sector(at: start, count: length)
        }
        return bytes
    }

    private func sector(at offset: Int, count: Int) throws(RecordStoreError) -> [UInt8] {
        for _ in 0..<Self.readingLimit {
            do {
                let part = try bytes(at: offset, count: count)
                return part + [UInt8](repeating: 0, count: count - part.count)
            } catch {
                guard error.code == EIO else { throw failure(error, "read") }
            }
        }
        isDamaged.store(true, ordering: .relaxed)
        return [UInt8](repeating: 0, count: count)
    }

    /// Whether any part of the file could not be read so far.
    package var isUnreadable: Bool { isDamaged.load(ordering: .relaxed) }

    private func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        var done = 0
        while done < bytes.count {
            let place = off_t(offset + done)
            let step = RecordFileStep.read(name, at: offset + done, count: bytes.count - done)
            let part = try step.perform(faults) {
                // `unsafe`: The buffer is the array's own storage of `buffer.count` bytes and does not escape the closure. `pread`
                // writes at most the `buffer.count - done` bytes from `done` to the buffer's end.
                unsafe bytes.withUnsafeMutableBytes { buffer in
                    unsafe pread(
                        handle.fileDescriptor,
                        buffer.baseAddress?.advanced(by: done),
                        buffer.count - done,
                        place
                    )
                }
            }
            if part == 0 { break }
            done += part
        }
        bytes.removeLast(bytes.count - done)
        return bytes
    }

    /// Writes bytes at an offset.
    package func write(_ bytes: [UInt8], at offset: Int) throws(RecordStoreError) {
        var fault: RecordFileFault?
        repeat { fault = faults(.write(name, byteCount: bytes.count)) } while fault?.code == EINTR
        let count = fault.map { min($0.writtenCount, bytes.count) } ?? bytes.count
        var done = 0
        while done < count {
            let place = off_t(offset + done)
            // `unsafe`: The buffer is the array's own storage and does not escape the closure. `pwrite` reads the `count - done`
            // bytes from `done` to `count`, which is at most the array's count.
            let part = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    handle.fileDescriptor,
                    buffer.baseAddress?.advanced(by: done),
                    count - done,
                    place
                )
            }
            if part >= 0 {
                done += part
            } else if errno != EINTR {
                throw RecordStoreError(code: errno, path: path, "written")
            }
        }
        if let fault { throw RecordStoreError(code: fault.code, path: path, "written") }
    }

    /// Truncates the file to a size.
    package func truncate(to size: Int) throws(RecordStoreError) {
        _ = try perform(.truncate(name), "truncated") { ftruncate(handle.fileDescriptor, off_t(size)) }
    }

    /// Flushes the file to the disk.
    package func flush() throws(RecordStoreError) { try flush(as: .flush(name)) }

    package func flush(as step: RecordFileStep) throws(RecordStoreError) {
        _ = try perform(step, "flushed") {
            #if canImport(Darwin)
            // Here, `fsync` does not flush the drive's cache. `F_FULLFSYNC` does, but not every file system supports it.
            if fcntl(handle.fileDescriptor, F_FULLFSYNC) == 0 { return 0 }
            #endif
            return fsync(handle.fileDescriptor)
        }
    }

    /// Locks the file, waiting for the current owner of the lock, or unlocks it.
    package func lock(_ isLocked: Bool) throws(RecordStoreError) {
        _ = try perform(.lock(name), "locked") { flock(handle.fileDescriptor, isLocked ? LOCK_EX : LOCK_UN) }
    }

    /// Locks the file without waiting. Returns `false` if the file is locked through another descriptor. Closing the file unlocks
    /// it.
    package func lockAtOnce() throws(RecordStoreError) -> Bool {
        do throws(SystemError) {
            _ = try RecordFileStep.lock(name).perform(faults) { flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.code == EWOULDBLOCK { return false }
            throw failure(error, "locked")
        }
    }

    /// Unlocks and closes the file, which cannot be used afterwards.
    package func close() {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        // Between fork and exec, a child process shares the descriptor. Closing alone would leave the child with the lock.
        _ = flock(handle.fileDescriptor, LOCK_UN)
        // The descriptor is closed even if this reports an error.
        try? handle.close()
    }

    /// Asks the system to drop the file from the page cache, so that the next read comes from the disk. The system may ignore this.
    package func forgetInMemory() {
        #if canImport(Darwin)
        _ = fcntl(handle.fileDescriptor, F_NOCACHE, 1)
        #else
        _ = posix_fadvise(handle.fileDescriptor, 0, 0, Int32(POSIX_FADV_DONTNEED))
        #endif
    }

    private func perform(
        _ step: RecordFileStep,
        _ action: String,
        _ call: () -> Int32
    ) throws(RecordStoreError) -> Int32 {
        do { return try step.perform(faults, call) } catch { throw failure(error, action) }
    }

    private func failure(_ error: SystemError, _ action: String) -> RecordStoreError {
        RecordStoreError(code: error.code, path: path, action)
    }
}

extension RecordFile.Identity {
    package init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
