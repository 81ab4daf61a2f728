/// An error of which only the name matters.
struct ExampleError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ number: Int) {
        self.init("\(number)")
    }
}
