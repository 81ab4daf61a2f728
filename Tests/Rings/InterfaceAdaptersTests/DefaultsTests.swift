import TestSupport
import Testing

@testable import InterfaceAdapters

/// Default values. Services rely on them, so announce a change of a default in the release notes.
struct DefaultsTests {
    @Test func pathRouterStartsAtTheRootByDefault() {
        #expect(isSame(PathRouter(), as: PathRouter(root: "/"), unlike: PathRouter(root: "/x")))
        #expect(!Table.Column("Title").isNumeric)
    }
}
