import TestSupport
import Testing

@testable import InterfaceAdapters

/// What holds where nobody says otherwise. A service that links this package relies on it, so a change of a default is a change that
/// its users have to be told of.
struct DefaultsTests {
    @Test func linksBeginAtTheRoot() {
        #expect(isSame(PathRouter(), as: PathRouter(root: "/"), unlike: PathRouter(root: "/x")))
        #expect(!Table.Column("Title").isNumeric)
    }
}
