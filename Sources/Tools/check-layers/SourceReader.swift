import Foundation
import LayerContract

/// A reader for a package's sources: Swift files, and C, C++, and Objective-C files with their headers and module maps.
struct SourceReader {
    private struct Source {
        let path: String
        let target: String
        let subject: String?
        let isSwift: Bool
    }

    /// The file extensions of C-family sources, headers, and module maps.
    private static let endings: Set<String> = [
        "c", "h", "m", "mm", "i", "ii", "cc", "cp", "cpp", "cxx", "c++", "hh", "hp", "hpp", "hxx", "h++", "inc", "inl",
        "ipp",
        "tpp", "tcc", "def", "s", "asm", "modulemap",
    ]

    private let root: URL
    private let sources: [Source]

    /// Creates a reader for a package's sources.
    init(_ package: PackageDescription) {
        let root = URL(filePath: package.path, directoryHint: .isDirectory)
        self.root = root
        let folders = Set(package.targets.map(\.path))
        sources = package.targets.flatMap { target in
            let swift = target.sources.filter { $0.hasSuffix(".swift") }.map { source in
                Source(
                    path: "\(target.path)/\(source)",
                    target: target.name,
                    subject: target.subject(of: source),
                    isSwift: true
                )
            }
            guard target.language == .c || target.language == .moduleMap else { return swift }
            // SwiftPM does not list the headers of a target.
            let files = Self.files(in: target.path, of: root, besides: folders)
            return swift + files.map { Source(path: $0, target: target.name, subject: nil, isSwift: false) }
        }
    }

    /// Returns the C sources, headers, and module maps in a folder, excluding the folders of other targets.
    private static func files(in folder: String, of root: URL, besides folders: Set<String>) -> [String] {
        let url = root.appending(path: folder, directoryHint: .isDirectory)
        guard let enumerator = FileManager.default.enumerator(atPath: url.path) else { return [] }
        var files: [String] = []
        while let name = enumerator.nextObject() as? String {
            let path = "\(folder)/\(name)"
            if folders.contains(path) {
                enumerator.skipDescendants()
            } else if let dot = name.lastIndex(of: "."), endings.contains(name[dot...].dropFirst().lowercased()) {
                files.append(path)
            }
        }
        return files
    }

    /// Reads all sources, in as many concurrent tasks as there are processors.
    ///
    /// - Throws: A ``CheckFailure`` if any source cannot be read, because a skipped source would go unchecked.
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
            guard source.isSwift else {
                return SourceFacts(readingC: bytes, path: source.path, target: source.target)
            }
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
