import Foundation
package import InterfaceAdapters

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open file of a store.
package final class RecordFile: Sendable {
    /// Which file it is, whatever it is called. No other is the same as long as this one is open.
    package struct Identity: Equatable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    private let name: String
    private let path: String
    private let faults: RecordFileFault.Source
    /// Closes its descriptor when nobody holds it any more.
    private let handle: FileHandle

    /// Opens a file with flags of the system's; one that is made is for its owner alone, unless it is told otherwise.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - directory: The open directory that it is in; `nil` if it is found by its path.
    ///   - path: Its path.
    ///   - flags: How it is opened.
    ///   - permissions: Who may do what with a file that is made.
    ///   - faults: What goes wrong.
    /// - Throws: a `RecordStoreError` if it cannot be opened.
    init(
        _ name: String,
        in directory: FileHandle? = nil,
        path: String,
        flags: Int32,
        permissions: mode_t = 0o600,
        faults: @escaping RecordFileFault.Source
    ) throws(RecordStoreError) {
        if let fault = faults(.open(name)) {
            throw RecordStoreError(code: fault.code, path: path, "opened")
        }
        // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
        let descriptor = unsafe openat(
            directory?.fileDescriptor ?? AT_FDCWD,
            directory == nil ? path : name,
            flags | O_NOFOLLOW | O_CLOEXEC,
            permissions
        )
        guard descriptor >= 0 else { throw RecordStoreError(code: errno, path: path, "opened") }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        self.name = name
        self.path = path
        self.faults = faults
    }

    /// Which file it is, and how many bytes it has.
    package func status() throws(RecordStoreError) -> (identity: Identity, size: Int) {
        var status = stat()
        // `unsafe`: the call writes one `stat`, which is where it is told to write.
        guard unsafe fstat(handle.fileDescriptor, &status) == 0 else { throw failure("read") }
        return (Identity(status), Int(status.st_size))
    }

    /// So many bytes from an offset on, or as many as there are.
    package func read(at offset: Int, count: Int) throws(RecordStoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        var done = 0
        while done < bytes.count {
            let place = off_t(offset + done)
            let part = unsafe bytes.withUnsafeMutableBytes { buffer in
                // `unsafe`: the buffer is of the array and outlives the call, which writes no more than the rest of it.
                unsafe pread(
                    handle.fileDescriptor,
                    buffer.baseAddress?.advanced(by: done),
                    buffer.count - done,
                    place
                )
            }
            if part == 0 { break }
            if part > 0 { done += part } else if errno != EINTR { throw failure("read") }
        }
        bytes.removeLast(bytes.count - done)
        return bytes
    }

    /// Writes bytes from an offset on.
    func write(_ bytes: [UInt8], at offset: Int) throws(RecordStoreError) {
        let fault = faults(.write(name, byteCount: bytes.count))
        let count = fault.map { min($0.writtenCount, bytes.count) } ?? bytes.count
        var done = 0
        while done < count {
            let place = off_t(offset + done)
            let part = unsafe bytes.withUnsafeBytes { buffer in
                // `unsafe`: the buffer is of the array and outlives the call, which reads no more than `count` bytes of it.
                unsafe pwrite(
                    handle.fileDescriptor,
                    buffer.baseAddress?.advanced(by: done),
                    count - done,
                    place
                )
            }
            if part >= 0 { done += part } else if errno != EINTR { throw failure("written") }
        }
        if let fault { throw RecordStoreError(code: fault.code, path: path, "written") }
    }

    /// Leaves as many bytes, and no more.
    func truncate(to size: Int) throws(RecordStoreError) {
        if let fault = faults(.truncate(name)) {
            throw RecordStoreError(code: fault.code, path: path, "cut")
        }
        guard ftruncate(handle.fileDescriptor, off_t(size)) == 0 else { throw failure("cut") }
    }

    /// Waits until all that was written is on the disk.
    func flush() throws(RecordStoreError) {
        if let fault = faults(.flush(name)) {
            throw RecordStoreError(code: fault.code, path: path, "flushed")
        }
        #if canImport(Darwin)
        // `fsync` is satisfied there with what the disk has in its own memory. Not every file system knows better.
        if fcntl(handle.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(handle.fileDescriptor) == 0 else { throw failure("flushed") }
    }

    /// Waits until no other who opened the file has it locked, and locks it; or gives the lock back.
    func lock(_ isLocked: Bool) throws(RecordStoreError) {
        while flock(handle.fileDescriptor, isLocked ? LOCK_EX : LOCK_UN) != 0 {
            guard errno == EINTR else { throw failure("locked") }
        }
    }

    /// Locks the file, unless another who opened it has it locked; says whether it did. Closing the file gives the lock back.
    func lockAtOnce() throws(RecordStoreError) -> Bool {
        while flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw failure("locked") }
        }
        return true
    }

    /// Asks the system to forget what it has in memory of the file, so that it is read from the disk again. It need not.
    func forgetInMemory() {
        #if canImport(Darwin)
        _ = fcntl(handle.fileDescriptor, F_NOCACHE, 1)
        #else
        _ = posix_fadvise(handle.fileDescriptor, 0, 0, Int32(POSIX_FADV_DONTNEED))
        #endif
    }

    private func failure(_ action: String) -> RecordStoreError {
        RecordStoreError(code: errno, path: path, action)
    }
}

extension RecordFile.Identity {
    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
