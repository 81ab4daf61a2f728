import Foundation
import Testing

/// What the program is made of, by the trait.
struct TraitTests {
    @Test func serviceGroupsAreThereWhereTheTraitIsEnabledAndNowhereElse() {
        let group: AnyClass? = NSClassFromString("ServiceLifecycle.ServiceGroup")
        #if ServiceLifecycle
        #expect(group != nil)
        #else
        #expect(group == nil)
        #endif
    }
}
