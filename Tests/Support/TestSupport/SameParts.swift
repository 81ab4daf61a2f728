/// Returns whether `dump` prints two values alike, and a third one differently.
package func isSame<Value>(_ value: Value, as other: Value, unlike different: Value) -> Bool {
    let texts = [value, other, different].map { value in
        var text = ""
        dump(value, to: &text)
        // Sorted, because sets are unordered.
        return text.split(separator: "\n").sorted()
    }
    return texts[0] == texts[1] && texts[0] != texts[2]
}
