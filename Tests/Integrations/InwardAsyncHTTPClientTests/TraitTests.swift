import Foundation
import Testing

/// Checks that the dependency is linked only if the trait is enabled.
struct TraitTests {
    @Test func clientIsLinkedOnlyIfTheTraitIsEnabled() {
        let client: AnyClass? = NSClassFromString("AsyncHTTPClient.HTTPClient")
        #if AsyncHTTPClient
        #expect(client != nil)
        #else
        #expect(client == nil)
        #endif
    }
}
