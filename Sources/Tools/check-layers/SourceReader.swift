import Foundation
import LayerContract

/// Reads the Swift sources of a package.
struct SourceReader {
    private struct Source {
        let path: String
        let target: String
        let subject: String?
    }

    private let root: URL
    private let sources: [Source]

    /// A reader of a package's sources.
    init(_ package: PackageDescription) {
        root = URL(filePath: package.path, directoryHint: .isDirectory)
        sources = package.targets.flatMap { target in
            target.sources.filter { $0.hasSuffix(".swift") }.map { source in
                Source(path: "\(target.path)/\(source)", target: target.name, subject: target.subject(of: source))
            }
        }
    }

    /// Reads all of them, as many at a time as there are processors.
    ///
    /// - Throws: a ``CheckFailure`` for the first that cannot be read: what is not read is not checked.
    func facts() async throws(CheckFailure) -> [SourceFacts] {
        let count = max(1, ProcessInfo.processInfo.activeProcessorCount)
        let results = await withTaskGroup(of: Result<[SourceFacts], CheckFailure>.self) { group in
            for first in 0..<count {
                group.addTask { read(stride(from: first, to: sources.count, by: count)) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var facts: [SourceFacts] = []
        for result in results { facts += try result.get() }
        return facts.sorted { $0.path < $1.path }
    }

    private func read(_ indices: StrideTo<Int>) -> Result<[SourceFacts], CheckFailure> {
        Result { () throws(CheckFailure) in
            var facts: [SourceFacts] = []
            for index in indices { facts.append(try read(sources[index])) }
            return facts
        }
    }

    private func read(_ source: Source) throws(CheckFailure) -> SourceFacts {
        do {
            let bytes = [UInt8](try Data(contentsOf: root.appending(path: source.path)))
            return try SourceFacts(
                reading: bytes,
                path: source.path,
                target: source.target,
                subject: source.subject
            )
        } catch let error as SourceError {
            throw CheckFailure("\(error)")
        } catch {
            throw CheckFailure("\(source.path) cannot be read: \(error.localizedDescription)")
        }
    }
}
