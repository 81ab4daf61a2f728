import Foundation
import LayerContract

/// A package and the files of its check: the diagram, the manifest, and the baseline.
struct PackageCheck {
    let package: PackageDescription
    let arguments: Arguments

    private var diagramFile: String { arguments.diagram ?? "Architecture.md" }

    /// Checks the package against its diagram.
    func report(on sources: [SourceFacts]) throws -> LayerReport {
        let check = LayerCheck(
            diagram: try diagram(in: text(of: diagramFile)),
            package: package,
            sources: sources,
            manifest: ManifestLines(reading: [UInt8](try contents(of: ManifestLines.file)))
        )
        let report: LayerReport
        do {
            report = try check.report()
        } catch {
            throw CheckFailure("\(error)")
        }
        guard let file = arguments.baseline else { return report }
        do {
            return try Baseline(reading: contents(of: file)).applied(to: report, file: file)
        } catch let error as BaselineError {
            throw CheckFailure("\(file): \(error)")
        }
    }

    /// Draws the diagram of the current code, and returns a message that says where.
    func draw(_ sources: [SourceFacts]) throws -> String {
        let exists = FileManager.default.fileExists(atPath: url(of: diagramFile).path)
        let markdown = exists ? try text(of: diagramFile) : ""
        // Without `--block`, a missing diagram is appended. A given heading must exist, because its absence is likely a mistake.
        let isDrawn = arguments.block != nil || LayerDiagram.isDrawn(in: markdown)
        let known = isDrawn ? try diagram(in: markdown) : nil
        let drawn = LayerDrawing(package: package, sources: sources, replacing: known).drawn(into: markdown)
        try write(drawn, to: diagramFile)
        return "The diagram of the code as it is was drawn into \(diagramFile).\n"
    }

    /// Records the findings as the baseline, and returns a message that says how many.
    func record(_ report: LayerReport, in file: String) throws -> String {
        try write(Baseline(recording: report.findings).jsonText(), to: file)
        return "Findings recorded in \(file): \(report.findings.count).\n"
    }

    /// Writes a file, given by an absolute path or a path relative to the package.
    func write(_ text: String, to file: String) throws {
        do {
            try Data(text.utf8).write(to: url(of: file), options: .atomic)
        } catch {
            throw CheckFailure(
                "\(file) cannot be written: \(error.localizedDescription) A plugin may write only if it is run by "
                    + "“swift package --disable-sandbox check-layers”."
            )
        }
    }

    private func diagram(in markdown: String) throws -> LayerDiagram {
        do {
            return try LayerDiagram(markdown: markdown, file: diagramFile, under: arguments.block)
        } catch {
            throw CheckFailure("\(diagramFile): \(error)")
        }
    }

    private func url(of file: String) -> URL {
        URL(filePath: file, relativeTo: URL(filePath: package.path, directoryHint: .isDirectory))
    }

    private func contents(of file: String) throws -> Data {
        do {
            return try Data(contentsOf: url(of: file))
        } catch {
            throw CheckFailure("\(file) cannot be read: \(error.localizedDescription)")
        }
    }

    private func text(of file: String) throws -> String {
        // The byte order mark stays part of the text, so that it is written back.
        guard let text = String(validating: try contents(of: file), as: UTF8.self) else {
            throw CheckFailure("\(file) is not UTF-8.")
        }
        return text
    }
}

/// An error that prevents a package from being checked.
struct CheckFailure: Error, Equatable {
    /// What happened and what to do, in sentences.
    let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}
