extension FileTemplate {
    static let featureContainer = Self(
        "Sources/Rings/Composition/{BlogEntries}/{BlogEntries}Container.swift",
        imports: ["public import InwardScopes"],
        text: #"""
            /// The {blog entries}, for somebody who is looking at them.
            public struct {BlogEntries}Container: FeatureContainer {
                /// What a container of the {blog entries} holds: nothing of its own.
                public struct Objects: Sendable {}

                /// The scope of the {blog entries}.
                public let scope: Scope<FeatureLifetime, Objects>
                private let user: UserContainer

                /// Begins to look at {blog entries}.
                ///
                /// - Throws: a `ScopeError` if the user's session is closed.
                public init(in user: UserContainer) throws(ScopeError) {
                    self.user = user
                    scope = try Scope("{blog entries}", in: user.scope, objects: Objects())
                }

                /// Opens an interaction that looks at the {blog entries} once.
                ///
                /// - Throws: a `ScopeError` if the container is closed.
                public func makeInteraction(
                    id: InteractionID?,
                    within limit: Duration?
                ) throws(ScopeError) -> {BlogEntries}Interaction {
                    {BlogEntries}Interaction(scope: try user.openInteraction(in: scope, id: id, within: limit))
                }
            }
            """#
    )
}
