#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The findings that a package had when it adopted the check: they pass, new ones do not.
///
/// A finding is known by its rule, file and edge, and not by its line, so that it stays the same while the file is
/// edited; how often it is there counts.
public struct Baseline: Hashable, Sendable {
    private struct Key: Hashable, Comparable {
        let file: String
        let rule: String
        let edge: String

        static func < (one: Key, other: Key) -> Bool {
            (one.file, one.rule, one.edge) < (other.file, other.rule, other.edge)
        }
    }

    private struct File: Codable {
        struct Entry: Codable {
            let file: String
            let rule: String
            let edge: String
            let count: Int
        }

        let version: Int
        let findings: [Entry]
    }

    private let counts: [Key: Int]

    /// Records findings.
    public init(recording findings: [Finding]) {
        counts = Dictionary(findings.map { (Self.key($0), 1) }, uniquingKeysWith: +)
    }

    /// Reads a baseline that was written.
    ///
    /// - Throws: a ``BaselineError`` if it is not understood.
    public init(reading data: Data) throws(BaselineError) {
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: data)
        } catch {
            throw BaselineError("The baseline is not understood: \(error)")
        }
        guard file.version == 1 else {
            throw BaselineError("The baseline has version \(file.version), and 1 is known.")
        }
        var counts: [Key: Int] = [:]
        for entry in file.findings {
            let key = Key(file: entry.file, rule: entry.rule, edge: entry.edge)
            guard entry.count > 0, counts.updateValue(entry.count, forKey: key) == nil else {
                throw BaselineError(
                    "The baseline records \(entry.edge) in \(entry.file) twice, or \(entry.count) times."
                )
            }
        }
        self.counts = counts
    }

    /// The baseline as JSON, ended by a line break.
    ///
    /// - Throws: a ``JSONTextError`` if it cannot be written.
    public func jsonText() throws(JSONTextError) -> String {
        let entries = counts.sorted { $0.key < $1.key }.map { key, count in
            File.Entry(file: key.file, rule: key.rule, edge: key.edge, count: count)
        }
        return try File(version: 1, findings: entries).jsonText()
    }

    /// A report without the findings that are recorded, and with one for each record that is mended.
    ///
    /// - Parameters:
    ///   - report: what a check found.
    ///   - file: the baseline's path, for the findings about it.
    /// - Returns: the report with what is left, in order.
    public func applied(to report: LayerReport, file: String) -> LayerReport {
        var remaining = counts
        var result = report
        result.findings = report.findings.filter { finding in
            let key = Self.key(finding)
            guard let count = remaining[key], count > 0 else { return true }
            remaining[key] = count - 1
            return false
        }
        let mended = remaining.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { key, count in
            Finding(
                rule: .baselineIsCurrent,
                location: SourceLocation(file: file, line: 1),
                edge: key.edge,
                message:
                    "The baseline records \(count) more of \(key.rule)\(key.file.isEmpty ? "" : " in \(key.file)") than "
                    + "there are.",
                remedy: "Record the baseline again: what is mended must stay so."
            )
        }
        result.findings = (result.findings + mended).sorted()
        return result
    }

    private static func key(_ finding: Finding) -> Key {
        // A circle of folders is where it is, whichever of its files shows it first.
        let file = finding.rule == .noCycleOfSubjects ? "" : finding.location.file
        return Key(file: file, rule: finding.rule.rawValue, edge: finding.edge)
    }
}

/// What keeps a baseline from being read.
public struct BaselineError: Error, Hashable, Sendable {
    /// What is wrong, in a sentence.
    public let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

extension BaselineError: CustomStringConvertible {
    /// What is wrong.
    public var description: String { explanation }
}
