extension FileTemplate {
    static let interactionContainer = Self(
        "Sources/Rings/Composition/{BlogEntries}/{BlogEntries}Interaction.swift",
        imports: ["import InterfaceAdapters", "public import InwardScopes", "public import UseCases"],
        text: #"""
            /// One look at the {blog entries}.
            public struct {BlogEntries}Interaction: InteractionContainer {
                /// The scope of the interaction.
                public let scope: Scope<InteractionLifetime, Interaction>

                /// Lists all {blog entries}.
                ///
                /// - Throws: a `ScopeError` if the interaction is closed.
                public var list{BlogEntries}: List{BlogEntries} {
                    get throws(ScopeError) {
                        let repository = Upstream{BlogEntry}Repository(upstream: try upstream)
                        return List{BlogEntries}({blogEntries}: repository)
                    }
                }
            }
            """#
    )
}
