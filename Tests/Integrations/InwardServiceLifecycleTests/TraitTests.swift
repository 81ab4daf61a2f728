import Foundation
import Testing

/// Tests which code is linked with and without the trait.
struct TraitTests {
    @Test func serviceGroupsExistOnlyWithTheTrait() {
        let group: AnyClass? = NSClassFromString("ServiceLifecycle.ServiceGroup")
        #if ServiceLifecycle
        #expect(group != nil)
        #else
        #expect(group == nil)
        #endif
    }
}
