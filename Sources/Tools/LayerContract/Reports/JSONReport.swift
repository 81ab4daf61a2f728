#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A report in JSON.
struct JSONReport: CustomStringConvertible {
    private struct Body: Encodable {
        let findings: [Entry]
        let notes: [Note]
        let files: Int
        let imports: Int
        let targets: Int
        let edges: Int
    }

    private struct Note: Encodable {
        let file: String
        let line: Int
        let message: String
    }

    private struct Entry: Encodable {
        let rule: String
        let file: String
        let line: Int
        let edge: String
        let message: String
        let title: String
        let reason: String
        let remedy: String
    }

    let description: String

    init(_ report: LayerReport) throws(JSONTextError) {
        let entries = report.findings.map { finding in
            Entry(
                rule: finding.rule.rawValue,
                file: finding.location.file,
                line: finding.location.line,
                edge: finding.edge,
                message: finding.message,
                title: finding.rule.title,
                reason: finding.rule.reason,
                remedy: finding.remedy
            )
        }
        let body = Body(
            findings: entries,
            notes: report.notes.map {
                Note(file: $0.location.file, line: $0.location.line, message: $0.message)
            },
            files: report.fileCount,
            imports: report.importCount,
            targets: report.targetCount,
            edges: report.edgeCount
        )
        description = try body.jsonText()
    }
}

extension Encodable {
    /// Returns the value as pretty-printed JSON, with a trailing newline.
    func jsonText() throws(JSONTextError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        } catch {
            throw JSONTextError(explanation: "The value cannot be encoded as JSON: \(error)")
        }
    }
}

/// An error that occurs when a value cannot be encoded as JSON.
///
/// ```swift
/// func text(of report: LayerReport) -> String {
///     do {
///         return try report.formatted(as: .sarif)
///     } catch {
///         return "\(error)\n\(report.summary)\n"
///     }
/// }
/// ```
public struct JSONTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence that describes the problem.
    public let explanation: String

    /// A description of the problem.
    public var description: String { explanation }
}
