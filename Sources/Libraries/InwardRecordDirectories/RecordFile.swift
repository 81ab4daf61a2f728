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
    /// Which file it is, whatever it is called. No other is the same as long as this one is open.
    package struct Identity: Equatable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    /// The smallest part of a file that a disk may be unable to read.
    private static let sectorLength = 4_096
    /// How often a part is read that the disk cannot read.
    private static let readingLimit = 3

    private let name: String
    private let path: String
    private let faults: RecordFileFault.Source
    private let isDamaged = Atomic(false)
    private let isOpen = Atomic(true)
    private let handle: FileHandle

    /// Opens a file with the system's flags. A new file is for its owner alone by default.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - directory: The open directory that it is in; `nil` if it is found by its path.
    ///   - path: Its path.
    ///   - flags: How it is opened.
    ///   - permissions: Who may do what with a file that is made.
    ///   - faults: What goes wrong.
    /// - Throws: a `RecordStoreError` if it cannot be opened.
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
                // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
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

    /// Takes from everybody but the owner what they may do with the file. What a process may create depends on its `umask`, and
    /// the file may be a copy that was made without care.
    package func makePrivate() throws(RecordStoreError) {
        let status = try systemStatus()
        guard status.st_mode & 0o777 != 0o600 else { return }
        _ = try perform(.setMode(name), "made private") { fchmod(handle.fileDescriptor, 0o600) }
    }

    /// Which file it is, and how many bytes it has.
    package func status() throws(RecordStoreError) -> (identity: Identity, size: Int) {
        let status = try systemStatus()
        return (Identity(status), Int(status.st_size))
    }

    private func systemStatus() throws(RecordStoreError) -> stat {
        var status = stat()
        _ = try perform(.status(name), "read") {
            // `unsafe`: the call writes one `stat`, which is where it is told to write.
            unsafe fstat(handle.fileDescriptor, &status)
        }
        return status
    }

    /// So many bytes from an offset on, or as many as there are.
    package func read(at offset: Int, count: Int) throws(RecordStoreError) -> [UInt8] {
        do { return try bytes(at: offset, count: count) } catch { throw failure(error, "read") }
    }

    /// So many bytes from an offset on, or as many as there are, with zeros where the disk cannot read them.
    ///
    /// Each part is read several times before it counts as unreadable. Checksums tell that the zeros are not what was written.
    package func readable(at offset: Int, count: Int) throws(RecordStoreError) -> [UInt8] {
        do { return try bytes(at: offset, count: count) } catch {
            guard error.code == EIO else { throw failure(error, "read") }
        }
        // By sectors, so that what lies beside one that cannot be read is not lost with it.
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

    /// Whether the disk could not read a part of it so far.
    package var isUnreadable: Bool { isDamaged.load(ordering: .relaxed) }

    private func bytes(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        var done = 0
        while done < bytes.count {
            let place = off_t(offset + done)
            let step = RecordFileStep.read(name, at: offset + done, count: bytes.count - done)
            let part = try step.perform(faults) {
                // `unsafe`: the buffer is the array's own, of `buffer.count` bytes, and does not leave the closure. `pread` writes
                // at most the `buffer.count - done` bytes from `done` to the buffer's end.
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

    /// Writes bytes from an offset on.
    package func write(_ bytes: [UInt8], at offset: Int) throws(RecordStoreError) {
        var fault: RecordFileFault?
        repeat { fault = faults(.write(name, byteCount: bytes.count)) } while fault?.code == EINTR
        let count = fault.map { min($0.writtenCount, bytes.count) } ?? bytes.count
        var done = 0
        while done < count {
            let place = off_t(offset + done)
            // `unsafe`: the buffer is the array's own, and does not leave the closure. `pwrite` reads the `count - done` bytes from
            // `done` to `count`, which is at most the array's count.
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

    /// Leaves as many bytes, and no more.
    package func truncate(to size: Int) throws(RecordStoreError) {
        _ = try perform(.truncate(name), "cut") { ftruncate(handle.fileDescriptor, off_t(size)) }
    }

    /// Waits until all that was written is on the disk.
    package func flush() throws(RecordStoreError) { try flush(as: .flush(name)) }

    package func flush(as step: RecordFileStep) throws(RecordStoreError) {
        _ = try perform(step, "flushed") {
            #if canImport(Darwin)
            // `fsync` is satisfied there with what the disk has in its own memory. Not every file system knows better.
            if fcntl(handle.fileDescriptor, F_FULLFSYNC) == 0 { return 0 }
            #endif
            return fsync(handle.fileDescriptor)
        }
    }

    /// Waits until no other who opened the file has it locked, and locks it; or gives the lock back.
    package func lock(_ isLocked: Bool) throws(RecordStoreError) {
        _ = try perform(.lock(name), "locked") { flock(handle.fileDescriptor, isLocked ? LOCK_EX : LOCK_UN) }
    }

    /// Locks the file, unless another who opened it has it locked; says whether it did. Closing the file gives the lock back.
    package func lockAtOnce() throws(RecordStoreError) -> Bool {
        do throws(SystemError) {
            _ = try RecordFileStep.lock(name).perform(faults) { flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            if error.code == EWOULDBLOCK { return false }
            throw failure(error, "locked")
        }
    }

    /// Closes the file, which gives its lock back. It cannot be used afterwards.
    package func close() {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        // A child process that is being started has the descriptor too until its program runs, and so would keep the lock.
        _ = flock(handle.fileDescriptor, LOCK_UN)
        // Nobody is helped by knowing that it failed: the descriptor is gone either way.
        try? handle.close()
    }

    /// Asks the system to forget what it has in memory of the file, so that it is read from the disk again. It need not.
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
