/// Whether two values have the same parts, as a dump shows them, and another does not.
package func isSame<Value>(_ value: Value, as other: Value, unlike different: Value) -> Bool {
    let texts = [value, other, different].map { value in
        var text = ""
        dump(value, to: &text)
        // A set has no order.
        return text.split(separator: "\n").sorted()
    }
    return texts[0] == texts[1] && texts[0] != texts[2]
}
