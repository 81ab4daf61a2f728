import Foundation

/// The package's documentation: its Markdown files, DocC catalogs and documentation comments.
///
/// An example may use these declarations:
///
/// - On a page outside a catalog, on a module's own page and in its `GettingStarted.md`: those of earlier blocks on the page.
/// - In another article: also those of the module's `GettingStarted.md`.
/// - In a documentation comment: those of the module's `GettingStarted.md`.
///
/// A block may shadow earlier declarations.
struct Documentation {
    /// Source code that is compiled as one file.
    struct Program {
        let source: String
        /// Whether it has declarations at file level. It is then compiled separately, because other programs may declare the
        /// same names.
        let needsFileLevel: Bool
    }

    static let package = URL(filePath: #filePath).appending(path: "../../../../..").standardized

    /// The modules that are built only if their trait is enabled.
    static let traitModules: Set = [
        "InwardAsyncHTTPClient", "InwardObservability", "InwardPostgreSQL", "InwardServiceLifecycle", "InwardSQLite",
        "InwardVips",
    ]

    private(set) var programs: [Program] = []
    private(set) var quotations: [CodeBlock] = []
    private(set) var manifests: [CodeBlock] = []
    private(set) var malformed: [String] = []
    /// The number of Swift blocks by module, or by page outside a module.
    private(set) var counts: [String: Int] = [:]

    /// Reads the Markdown pages of a folder, or those at the top of the package if the folder is empty.
    mutating func addPages(in folder: String) throws {
        let directory = Self.package.appending(path: folder)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path(percentEncoded: false)).sorted()
        where name.hasSuffix(".md") {
            try addPage(folder.isEmpty ? name : "\(folder)/\(name)", subject: folder.isEmpty ? name : folder)
        }
    }

    /// Reads the catalog and the documentation comments of a module, given its folder.
    mutating func addModule(in folder: String) throws {
        let module = String(folder.split(separator: "/").last ?? "")
        let directory = Self.package.appending(path: folder)
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path(percentEncoded: false)).sorted()
        let start = "\(folder)/\(module).docc/GettingStarted.md"
        var base: [CodeBlock] = []
        if files.contains("\(module).docc/GettingStarted.md") {
            base = try blocks(of: start).filter { !$0.isManifest && $0.quotedPath == nil }
        }
        for file in files where file.hasSuffix(".md") {
            let path = "\(folder)/\(file)"
            let isComplete = path == start || file == "\(module).docc/\(module).md"
            try addPage(path, subject: module, base: isComplete ? [] : base)
        }
        var comments: [CodeBlock] = []
        for file in files where file.hasSuffix(".swift") { comments += try blocks(of: "\(folder)/\(file)") }
        counts[module, default: 0] += comments.count
        // Comments with the same imports share a program, so that none of them sees the imports of another.
        let byImports = Dictionary(grouping: comments.filter { !$0.needsFileLevel }, by: { $0.imports.sorted() })
        for (imports, comments) in byImports.sorted(by: { $0.key.description < $1.key.description }) {
            add(comments, named: "comments of \(module) with \(imports)", base: base, module: module)
        }
        for (number, block) in comments.enumerated() where block.needsFileLevel {
            add([block], named: "comment \(number) of \(module)", base: base, module: module)
        }
    }

    private mutating func addPage(_ path: String, subject: String, base: [CodeBlock] = []) throws {
        let all = try blocks(of: path)
        counts[subject, default: 0] += all.count
        quotations += all.filter { $0.quotedPath != nil }
        manifests += all.filter(\.isManifest)
        let blocks = all.filter { !$0.isManifest && $0.quotedPath == nil }
        add(blocks, named: path, base: base)
    }

    /// Adds the program of a page, and one for each part of the page that ends before another import: a block may only use the
    /// imports above it.
    mutating func add(_ blocks: [CodeBlock], named name: String, base: [CodeBlock]) {
        add(blocks, named: name, base: base, module: nil)
        guard !blocks.contains(where: \.needsFileLevel) else { return }
        for (number, block) in blocks.enumerated().dropFirst() {
            let part = Array(blocks.prefix(number))
            guard !Set(block.imports).isSubset(of: (base + part).flatMap(\.imports)) else { continue }
            add(part, named: "\(name) before line \(block.line)", base: base, module: nil)
        }
    }

    /// Reads the Swift blocks of a file.
    private mutating func blocks(of path: String) throws -> [CodeBlock] {
        let bytes = try Data(contentsOf: Self.package.appending(path: path))
        // Most files have nothing to find.
        guard ["```", "///     ", "/**"].contains(where: { bytes.range(of: Data($0.utf8)) != nil }) else { return [] }
        let found = CodeBlock.blocks(of: path, in: String(decoding: bytes, as: UTF8.self))
        malformed += found.malformed
        return found.blocks.filter { $0.language == "swift" }
    }

    /// Adds a program that consists of blocks. With a module, the blocks come from documentation comments and do not see each
    /// other.
    mutating func add(_ blocks: [CodeBlock], named name: String, base: [CodeBlock], module: String?) {
        guard !blocks.isEmpty else { return }
        let imports = Set((base + blocks).flatMap(\.imports) + (module.map { ["import \($0)"] } ?? []))
        let needsFileLevel = blocks.contains(where: \.needsFileLevel)
        var fileLevel = imports.sorted().joined(separator: "\n") + "\n"
        var nested = (base + (module == nil || needsFileLevel ? blocks : []))
        if needsFileLevel {
            fileLevel += nested.filter(\.isDeclaration).map(\.located).joined()
            if nested.contains(where: \.isDeclaration) { fileLevel += "#sourceLocation()\n" }
            nested.removeAll(where: \.isDeclaration)
        }
        var body = nested.map { "do {\n\($0.located)" }.joined()
        if module != nil, !needsFileLevel { body += blocks.map { "do {\n\($0.located)}\n" }.joined() }
        body += nested.map { _ in "}\n" }.joined()
        if !body.isEmpty { body += "#sourceLocation()\n" }
        let function = "program" + String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        let source = fileLevel + "func \(function)() async throws {\n\(body)}\n"
        programs.append(Program(source: source, needsFileLevel: needsFileLevel))
    }

    /// Returns the compiler's errors for all programs. Programs that need the file level are compiled separately.
    func errors(_ options: [String] = []) async throws -> [String] {
        let together = programs.filter { !$0.needsFileLevel }.map(\.source)
        var errors = together.isEmpty ? [] : try await Snippet(files: together, options: options).errors()
        for program in programs where program.needsFileLevel {
            errors += try await Snippet(files: [program.source], options: options).errors()
        }
        return errors
    }
}
