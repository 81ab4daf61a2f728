#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A record of the findings that a package had when it adopted the check. Only findings that are not recorded fail the check.
///
/// ```swift
/// import Foundation
///
/// func newFindings(in report: LayerReport, baseline: Data) throws -> [Finding] {
///     try Baseline(reading: baseline).applied(to: report, file: "layers.json").findings
/// }
/// ```
///
/// A finding is identified by its rule, file, and edge. The line is ignored, so that unrelated edits do not invalidate the
/// baseline. If a finding occurs more often than it is recorded, the additional occurrences fail the check.
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

    /// Creates a baseline that records these findings.
    public init(recording findings: [Finding]) {
        counts = Dictionary(findings.map { (Self.key($0), 1) }, uniquingKeysWith: +)
    }

    /// Reads a baseline from JSON.
    ///
    /// - Throws: A ``BaselineError`` if the data is not a valid baseline.
    public init(reading data: Data) throws(BaselineError) {
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: data)
        } catch {
            throw BaselineError("The baseline cannot be read: \(error)")
        }
        guard file.version == 1 else {
            throw BaselineError("The baseline has version \(file.version), but only version 1 is supported.")
        }
        var counts: [Key: Int] = [:]
        for entry in file.findings {
            let key = Key(file: entry.file, rule: entry.rule, edge: entry.edge)
            guard entry.count > 0, counts.updateValue(entry.count, forKey: key) == nil else {
                throw BaselineError(
                    "The baseline records \(entry.edge) in \(entry.file) more than once, or with the count \(entry.count)."
                )
            }
        }
        self.counts = counts
    }

    /// Returns the baseline as JSON, with a trailing newline.
    ///
    /// - Throws: A ``JSONTextError`` if encoding fails.
    public func jsonText() throws(JSONTextError) -> String {
        let entries = counts.sorted { $0.key < $1.key }.map { key, count in
            File.Entry(file: key.file, rule: key.rule, edge: key.edge, count: count)
        }
        return try File(version: 1, findings: entries).jsonText()
    }

    /// Returns the report without the recorded findings, plus a finding for each record that no longer applies.
    ///
    /// - Parameters:
    ///   - report: The result of a check.
    ///   - file: The baseline's path, used as the location of findings about stale records.
    /// - Returns: The report with the remaining findings, sorted.
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
                    "The baseline records \(count) more \(count == 1 ? "finding" : "findings") of \(key.rule)"
                    + "\(key.file.isEmpty ? "" : " in \(key.file)") than there are.",
                remedy: "Record the baseline again, so that fixed findings stay fixed."
            )
        }
        result.findings = (result.findings + mended).sorted()
        return result
    }

    private static func key(_ finding: Finding) -> Key {
        // A cycle is identified without its file, because the file that reports it first can change.
        let file = finding.rule == .noCycleOfSubjects ? "" : finding.location.file
        return Key(file: file, rule: finding.rule.rawValue, edge: finding.edge)
    }
}

/// An error that prevents a baseline from being read.
///
/// ```swift
/// import Foundation
///
/// func baseline(in data: Data) -> Baseline? {
///     do {
///         return try Baseline(reading: data)
///     } catch {
///         print("layers.json: \(error)")
///         return nil
///     }
/// }
/// ```
public struct BaselineError: Error, Hashable, Sendable {
    /// A sentence that describes the problem.
    public let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

extension BaselineError: CustomStringConvertible {
    /// A description of the problem.
    public var description: String { explanation }
}
