/// A first-in-first-out queue. Adding and removing elements takes amortized O(1) time.
package struct FIFOQueue<Element: Sendable>: Sendable {
    private(set) var elements: [Element?] = []
    /// The index of the first element. Everything before it has been removed.
    private var head = 0

    /// Creates an empty queue.
    package init() {}

    var count: Int { elements.count - head }
    package var isEmpty: Bool { count == 0 }

    /// The first element, or `nil` if the queue is empty. Setting it replaces the first element.
    var first: Element? {
        get { head < elements.count ? elements[head] : nil }
        set { if head < elements.count, let newValue { elements[head] = newValue } }
    }

    /// All elements, from the first to the last.
    // Not a key path, which generic code would make again for each call.
    var all: some Sequence<Element> { elements[head...].lazy.compactMap { $0 } }

    /// Adds an element at the end.
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes the first element and returns it, or `nil` if the queue is empty.
    @discardableResult
    package mutating func popFirst() -> Element? {
        guard let element = first else { return nil }
        elements[head] = nil
        head += 1
        if head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Replaces the elements that satisfy a condition.
    ///
    /// - Complexity: O(n).
    mutating func replace(_ isReplaced: (Element) -> Bool, by replacement: (Element) -> Element) {
        for place in elements.indices {
            if let element = elements[place], isReplaced(element) { elements[place] = replacement(element) }
        }
    }

    /// Removes the elements that satisfy a condition.
    ///
    /// - Complexity: O(n).
    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements = elements[head...].filter { $0.map { !isRemoved($0) } ?? false }
        head = 0
    }
}
