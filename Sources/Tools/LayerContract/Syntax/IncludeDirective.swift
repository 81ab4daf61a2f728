/// An include or import in a C, C++, or Objective-C source, or a header that a module map names.
public struct IncludeDirective: Hashable, Sendable {
    /// The way the header is named.
    public enum Form: Hashable, Sendable {
        /// `#include "header.h"`, which first searches the folder of the file.
        case quoted
        /// `#include <header.h>`.
        case angled
        /// `@import Module;` or a pragma that imports a module.
        case module
        /// `#include MACRO`.
        case macro
    }

    /// The header's path, the module's name, or the macro, as written.
    public let header: String
    /// The form of the include.
    public let form: Form
    /// The include as written, on one line.
    public let text: String
    /// The line number, starting at 1.
    public let line: Int
}

/// A scanner that finds the includes of a C, C++, or Objective-C source, in every branch of conditional compilation.
struct IncludeScanner {
    private static let directives: Set<String> = ["include", "include_next", "import"]

    private(set) var includes: [IncludeDirective] = []
    private(set) var backDoors: [BackDoor] = []

    /// Scans a source in UTF-8.
    ///
    /// - Complexity: O(`bytes`)
    init(_ bytes: [UInt8]) {
        for line in CLines(bytes).lines {
            readDirective(line)
            readModules(line)
            backDoors += Self.words(of: line.text).compactMap { BackDoor(calling: $0, line: line.number) }
        }
    }

    private mutating func readDirective(_ line: CLines.Line) {
        // `%:` and `??=` are alternative spellings of `#`.
        guard let mark = ["#", "%:", "??="].first(where: line.text.hasPrefix) else { return }
        let rest = String(line.text.dropFirst(mark.count)).trimmed
        let word = String(rest.prefix { $0.isLetter || $0 == "_" })
        guard Self.directives.contains(word) else { return }
        let operand = String(rest.dropFirst(word.count)).trimmed
        let form: IncludeDirective.Form =
            switch operand.first {
            case "\"": .quoted
            case "<": .angled
            default: .macro
            }
        let end: Character = form == .angled ? ">" : "\""
        let header = form == .macro ? operand : String(operand.dropFirst().prefix { $0 != end })
        let text = form == .macro ? operand : "\(operand.prefix(1))\(header)\(end)"
        includes.append(
            IncludeDirective(header: header.trimmed, form: form, text: "#\(word) \(text)", line: line.number)
        )
    }

    /// Reads `@import A.B;`, `#pragma clang module import A.B`, and `_Pragma("clang module import A.B")`.
    private mutating func readModules(_ line: CLines.Line) {
        guard line.text.contains("import") else { return }
        let isPragma = line.text.contains("pragma") || line.text.contains("_Pragma")
        for range in line.text.ranges(of: "import") {
            let before = String(line.text[..<range.lowerBound]).trimmed
            let isModule = before.hasSuffix("@") || isPragma && before.words.last == "module"
            let path = String(line.text[range.upperBound...]).trimmed.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            guard isModule, !path.isEmpty else { continue }
            includes.append(
                IncludeDirective(
                    header: String(path),
                    form: .module,
                    text: before.hasSuffix("@") ? "@import \(path)" : "#pragma clang module import \(path)",
                    line: line.number
                )
            )
        }
    }

    private static func words(of text: String) -> [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
    }
}

/// A scanner that finds the headers in a module map, and the libraries and frameworks that it links.
struct ModuleMapScanner {
    /// A linked library or framework.
    struct Link: Hashable, Sendable {
        let name: String
        let line: Int
    }

    private(set) var headers: [IncludeDirective] = []
    private(set) var links: [Link] = []

    /// Scans a module map in UTF-8.
    init(_ bytes: [UInt8]) {
        for line in CLines(bytes, keepsStrings: true).lines {
            // Every second part is inside quotation marks.
            let parts = line.text.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
            for index in stride(from: 1, to: parts.count, by: 2) {
                let words = Array(parts[index - 1].split { !$0.isLetter && $0 != "_" }.suffix(2))
                if words.last == "header" {
                    headers.append(
                        IncludeDirective(
                            header: parts[index],
                            form: .quoted,
                            text: "header \"\(parts[index])\"",
                            line: line.number
                        )
                    )
                } else if words.last == "link" || words == ["link", "framework"] {
                    links.append(Link(name: parts[index], line: line.number))
                }
            }
        }
    }
}
