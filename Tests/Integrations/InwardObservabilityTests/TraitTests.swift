import Foundation
import Testing

/// Checks that the dependency is linked only if the trait is enabled.
struct TraitTests {
    @Test func metricsAreLinkedOnlyIfTheTraitIsEnabled() {
        let counter: AnyClass? = NSClassFromString("CoreMetrics.Counter")
        #if Observability
        #expect(counter != nil)
        #else
        #expect(counter == nil)
        #endif
    }
}
