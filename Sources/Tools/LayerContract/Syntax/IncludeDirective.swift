/// An include or import of a C, C++ or Objective-C source, or a header that a module map names.
public struct IncludeDirective: Hashable, Sendable {
    /// How the header is named.
    public enum Form: Hashable, Sendable {
        /// `#include "header.h"`: searched next to the file first.
        case quoted
        /// `#include <header.h>`.
        case angled
        /// `@import Module;`, or a pragma that imports one.
        case module
        /// `#include MACRO`.
        case macro
    }

    /// The header's path, the module's name or the macro, as it is written.
    public let header: String
    /// How it is named.
    public let form: Form
    /// The include as it is written, on one line.
    public let text: String
    /// Its line, from 1.
    public let line: Int
}

/// Finds the includes of a C, C++ or Objective-C source, in every branch of its conditional compilation.
struct IncludeScanner {
    private static let directives: Set<String> = ["include", "include_next", "import"]

    private(set) var includes: [IncludeDirective] = []
    private(set) var backDoors: [BackDoor] = []

    /// Reads a source in UTF-8.
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
        // `%:` and `??=` are other ways to write `#`.
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

    /// `@import A.B;`, `#pragma clang module import A.B`, `_Pragma("clang module import A.B")`.
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

/// What a module map names: headers, and the libraries and frameworks that it links.
struct ModuleMapScanner {
    /// A library or framework.
    struct Link: Hashable, Sendable {
        let name: String
        let line: Int
    }

    private(set) var headers: [IncludeDirective] = []
    private(set) var links: [Link] = []

    /// Reads a module map in UTF-8.
    init(_ bytes: [UInt8]) {
        for line in CLines(bytes, keepsStrings: true).lines {
            // Between quotation marks stands every second part.
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
