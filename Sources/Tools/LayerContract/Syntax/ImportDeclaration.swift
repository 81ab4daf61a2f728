/// An import of a source file.
public struct ImportDeclaration: Hashable, Sendable {
    /// The module: `Foundation`, also of `import struct Foundation.Date`.
    public let module: String
    /// The import as it is written, on one line.
    public let text: String
    /// Its line, from 1.
    public let line: Int
    /// The access level that it says; `nil` if it says none.
    public let access: AccessLevel?
    /// Whether it says `@testable`.
    public let isTestable: Bool
    /// Whether it says `@_exported`.
    public let isExported: Bool
    /// The modules of which its branch of a conditional compilation says that they cannot be imported.
    public let absentModules: Set<String>
}
