import Foundation
import Testing

/// What the program is made of, by the trait.
struct TraitTests {
    @Test func theClientIsThereWhereTheTraitIsEnabledAndNowhereElse() {
        let client: AnyClass? = NSClassFromString("AsyncHTTPClient.HTTPClient")
        #if AsyncHTTPClient
        #expect(client != nil)
        #else
        #expect(client == nil)
        #endif
    }
}
