import Foundation
package import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
