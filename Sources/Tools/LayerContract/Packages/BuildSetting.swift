/// A build setting that a target declares in the manifest.
public struct BuildSetting: Hashable, Sendable {
    /// The tool that a setting is for.
    public enum Tool: String, Hashable, Sendable, CaseIterable {
        /// The C compiler.
        case c
        /// The C++ compiler.
        case cxx
        /// The Swift compiler.
        case swift
        /// The linker.
        case linker
    }

    /// What a setting does.
    public enum Kind: Hashable, Sendable {
        /// Links a library.
        case linkedLibrary(String)
        /// Links a framework.
        case linkedFramework(String)
        /// Passes flags to the tool that SwiftPM does not check.
        case unsafeFlags([String])
        /// Adds a folder that headers are searched in, by its path from the target's folder.
        case headerSearchPath(String)
        /// Enables an upcoming feature of Swift.
        case upcomingFeature(String)
        /// Sets the language mode of Swift.
        case swiftLanguageMode(String)
    }

    /// The tool that it is for.
    public let tool: Tool
    /// What it does.
    public let kind: Kind
    /// Whether it holds only under a condition, such as a platform or a trait.
    public let isConditional: Bool

    /// A build setting.
    public init(_ kind: Kind, for tool: Tool, isConditional: Bool = false) {
        self.kind = kind
        self.tool = tool
        self.isConditional = isConditional
    }
}
