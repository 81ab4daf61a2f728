import Foundation
import InwardRecordDirectories
import Synchronization

@testable import InwardFileStores

/// The contents of a directory after a power failure, if only flushed data survives.
final class FlushedFiles: Sendable {
    private struct State {
        var step: RecordFileStep?
        var contents: [Int: Data] = [:]
        var names: [String: Int] = [:]
    }

    private let url: URL
    private let state = Mutex(State())

    init(of url: URL) {
        self.url = url
    }

    /// Records the next step. The previous step is done by now.
    func begin(_ step: RecordFileStep?) {
        state.withLock { state in
            switch state.step {
            case .flush(let name)?: if let number = files[name] { state.contents[number] = content(of: name) }
            case .flushDirectory?: state.names = files
            default: break
            }
            state.step = step
        }
    }

    /// Treats the current names in the directory as flushed.
    func adoptNames() {
        state.withLock { $0.names = files }
    }

    func write(to survivor: URL) throws {
        begin(nil)
        let (names, contents) = state.withLock { ($0.names, $0.contents) }
        try FileManager.default.createDirectory(at: survivor, withIntermediateDirectories: true)
        for (name, number) in names { try (contents[number] ?? Data()).write(to: survivor.appending(path: name)) }
    }

    private func content(of name: String) -> Data? { try? Data(contentsOf: url.appending(path: name)) }

    private var files: [String: Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []
        return names.reduce(into: [:]) { files, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: url.appending(path: name).path())
            files[name] = (attributes?[.systemFileNumber] as? NSNumber)?.intValue
        }
    }
}
