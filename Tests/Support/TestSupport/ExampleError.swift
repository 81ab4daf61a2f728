/// An error for tests that check only its name.
package struct ExampleError: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    package init(_ number: Int) {
        self.init("\(number)")
    }
}
