/// An include or import in a C, C++, or Objective-C source, or a header that a module map names.
///
/// ```swift
/// let facts = SourceFacts(readingC: Array("#include <zlib.h>".utf8), path: "Sources/CZip/zip.c", target: "CZip")
/// print(facts.includes.map(\.header))  // ["zlib.h"]
/// ```
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

/// The logical lines of a C, C++, or Objective-C source, with comments removed and spliced lines joined.
///
/// Follows the translation phases of C17 §5.1.1.2. String literals lose their contents, except in directives. C++ raw strings
/// always do.
struct CLines {
    /// A logical line.
    struct Line {
        let text: String
        /// The number of the line's first physical line, starting at 1.
        let number: Int
    }

    private(set) var lines: [Line] = []
    private let keepsStrings: Bool
    /// The source without spliced line breaks; `numbers` holds the line of each byte.
    private var bytes: [UInt8] = []
    private var numbers: [Int] = []
    private var position = 0
    private var text: [UInt8] = []
    private var number = 1

    /// Reads a source.
    ///
    /// - Parameters:
    ///   - source: The source in UTF-8.
    ///   - keepsStrings: Whether all strings keep their contents, as module maps require.
    /// - Complexity: O(`source`)
    init(_ source: [UInt8], keepsStrings: Bool = false) {
        self.keepsStrings = keepsStrings
        splice(source)
        while position < bytes.count { readNext() }
        endLine()
    }

    /// Removes each backslash at the end of a line, together with the line break. As in compilers, white space may separate
    /// the two.
    private mutating func splice(_ source: [UInt8]) {
        bytes.reserveCapacity(source.count)
        numbers.reserveCapacity(source.count)
        var index = source.starts(with: UInt8.byteOrderMark) ? UInt8.byteOrderMark.count : 0
        var line = 1
        while index < source.count {
            if source[index] == .backslash {
                var end = index + 1
                while end < source.count, source[end].isWhiteSpace, !source[end].isLineBreak { end += 1 }
                if end < source.count, source[end].isLineBreak {
                    let isPair = source[end] == .carriageReturn && end + 1 < source.count && source[end + 1] == .newline
                    index = end + (isPair ? 2 : 1)
                    line += 1
                    continue
                }
            }
            let isPair = source[index] == .carriageReturn && index + 1 < source.count && source[index + 1] == .newline
            if isPair { index += 1 }
            bytes.append(source[index].isLineBreak ? .newline : source[index])
            numbers.append(line)
            if source[index].isLineBreak { line += 1 }
            index += 1
        }
    }

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private mutating func append(_ byte: UInt8) {
        if text.isEmpty { number = numbers[min(position, numbers.count - 1)] }
        text.append(byte)
    }

    private mutating func endLine() {
        let line = String(decoding: text, as: UTF8.self).trimmed
        if !line.isEmpty { lines.append(Line(text: line, number: number)) }
        text = []
    }

    private mutating func readNext() {
        let byte = bytes[position]
        switch byte {
        case .newline:
            endLine()
            position += 1
        case .slash where peek(1) == .slash && !isInHeaderName:
            while let next = peek(0), next != .newline { position += 1 }
        case .slash where peek(1) == .asterisk && !isInHeaderName:
            skipComment()
        case .quote:
            if Self.rawPrefixes.contains(lastWord), skipRawString() { return }
            readLiteral(.quote)
        case UInt8(ascii: "'") where text.last?.continuesWord != true:
            // After a digit, the character is a C++ digit separator.
            readLiteral(byte)
        case _ where byte.isWhiteSpace && text.isEmpty:
            position += 1
        default:
            append(byte)
            position += 1
        }
    }

    /// Whether the position is within `<…>` of an include, where nothing begins a comment.
    private var isInHeaderName: Bool {
        guard isDirective, let open = text.lastIndex(of: UInt8(ascii: "<")) else { return false }
        let word = String(decoding: text[..<open], as: UTF8.self).trimmed
        return !text[open...].contains(UInt8(ascii: ">"))
            && ["include", "include_next", "import"].contains(where: word.hasSuffix)
    }

    /// The prefixes of raw strings.
    private static let rawPrefixes: Set<String> = ["R", "LR", "uR", "UR", "u8R"]

    private var lastWord: String {
        String(decoding: text.reversed().prefix { $0.continuesWord }.reversed(), as: UTF8.self)
    }

    private var isDirective: Bool { text.first == .pound || text.first == UInt8(ascii: "%") }

    private mutating func skipComment() {
        if !text.isEmpty { append(.space) }
        position += 2
        while position < bytes.count, !(peek(0) == .asterisk && peek(1) == .slash) { position += 1 }
        position += 2
    }

    /// Reads a string or character literal, up to its closing mark or the end of the line.
    private mutating func readLiteral(_ mark: UInt8) {
        let keeps = keepsStrings || isDirective || String(decoding: text.suffix(16), as: UTF8.self).contains("_Pragma")
        append(mark)
        position += 1
        while let byte = peek(0), byte != mark, byte != .newline {
            let length = byte == .backslash && peek(1) != nil && peek(1) != .newline ? 2 : 1
            if keeps { for distance in 0..<length { peek(distance).map { append($0) } } }
            position += length
        }
        guard peek(0) == mark else { return }
        append(mark)
        position += 1
    }

    /// Skips a raw string `R"delimiter(…)delimiter"`, if one begins here.
    private mutating func skipRawString() -> Bool {
        let start = position + 1
        guard let open = bytes[start...].prefix(17).firstIndex(of: .openParenthesis) else { return false }
        let end = [.closeParenthesis] + bytes[start..<open] + [.quote]
        var index = open + 1
        while index + end.count <= bytes.count {
            if bytes[index..<(index + end.count)].elementsEqual(end) {
                position = index + end.count
                text += [.quote, .quote]
                return true
            }
            index += 1
        }
        return false
    }
}
