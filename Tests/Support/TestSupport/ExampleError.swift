/// An error of which only the name matters.
package struct ExampleError: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    package init(_ number: Int) {
        self.init("\(number)")
    }
}
