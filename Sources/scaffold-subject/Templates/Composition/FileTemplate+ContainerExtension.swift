extension FileTemplate {
    static let containerExtension = Self(
        "Sources/Composition/AppContainer+{BlogEntries}.swift",
        imports: ["import InterfaceAdapters", "public import UseCases"],
        text: #"""
            extension AppContainer {
                /// Lists all {blog entries}.
                public var list{BlogEntries}: List{BlogEntries} {
                    let repository = Upstream{BlogEntry}Repository(upstream: upstream)
                    return List{BlogEntries}({blogEntries}: repository)
                }
            }
            """#
    )
}
