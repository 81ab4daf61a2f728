import Foundation
import Testing

/// What the program is made of, by the trait.
struct TraitTests {
    @Test func theMetricsAreThereWhereTheTraitIsEnabledAndNowhereElse() {
        let counter: AnyClass? = NSClassFromString("CoreMetrics.Counter")
        #if Observability
        #expect(counter != nil)
        #else
        #expect(counter == nil)
        #endif
    }
}
